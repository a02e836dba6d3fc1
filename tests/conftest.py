import jax
import matplotlib as mpl
import pytest

mpl.use("Agg")
# Mistakes in shapes and types show as errors here, where users would get silent broadcasting.
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")


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
