import os

# Before NumPy is loaded, for workers to inherit: more BLAS threads than cores wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import jax
import matplotlib as mpl
import pytest

mpl.use("Agg")
# Mistakes in shapes and types show as errors here, where users would get silent broadcasting.
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")


def pytest_configure(config):
    # Most of the time goes into compiling, and workers would compile the same programs again.
    jax.config.update("jax_compilation_cache_dir", str(config.cache.mkdir("xla")))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


@pytest.fixture
def count_compilations():
    """Returns a function that tells how many programs XLA has compiled since it was last asked."""
    durations = []

    def listen(event: str, duration: float, **_):
        if event.endswith("backend_compile_duration"):
            durations.append(duration)

    jax.monitoring.register_event_duration_secs_listener(listen)

    def count() -> int:
        number = len(durations)
        durations.clear()
        return number

    yield count
    jax.monitoring.unregister_event_duration_listener(listen)
