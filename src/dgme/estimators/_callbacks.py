"""What scikit-learn's callbacks hear of training, among them its progress bar.

scikit-learn has them since 1.9; before that, estimators have no `set_callbacks`.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

if TYPE_CHECKING or find_spec("sklearn.callback"):
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
else:

    class CallbackSupportMixin:
        pass

    def with_callbacks(method):
        return method


def listened_to(estimator: BaseEstimator) -> bool:
    """Whether callbacks are set, by the user or by the estimator around."""
    return bool(getattr(estimator, "_skl_callbacks", ()))


@contextmanager
def tasks(estimator: Any, name: str, total: int) -> Iterator[Callable[[int], bool]]:
    """A function to call with the number of steps that are done, up to `total`.

    It returns whether a callback asks to stop.
    """
    if not listened_to(estimator):
        yield lambda done: False
        return
    fit = estimator._init_callback_context(max_subtasks=total)
    fit.call_on_fit_task_begin(estimator=estimator)
    with closing(_steps(fit, estimator, name, total)) as steps:
        number, _ = next(steps)

        def advance(done: int) -> bool:
            nonlocal number
            stop = False
            while number < done:
                number, asked = next(steps)
                stop |= asked
            return stop

        yield advance
    fit.call_on_fit_task_end(estimator=estimator)


def _steps(fit, estimator, name: str, total: int) -> Generator[tuple[int, bool]]:
    """Steps that are under way until the next is asked for: how many are done, whether to stop."""
    stop = False
    for number in range(total):
        step = fit.subcontext(task_name=name).call_on_fit_task_begin(estimator=estimator)
        try:
            yield number, stop
        finally:
            stop = step.call_on_fit_task_end(estimator=estimator)
    yield total, stop
