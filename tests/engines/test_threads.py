from shoal.engines.threads import threads
from shoal.engines.worker import run, tell


def told(task):
    tell(task)
    return task + 1


def test_threads_begin_with_their_work_and_have_a_line_if_asked():
    workers = threads(told, 2, True)
    with workers.executor as executor:
        assert list(executor.map(run, [1, 2])) == [2, 3]
    assert {workers.post.messages.get_nowait() for _ in range(2)} == {1, 2}
    silent = threads(told, 1, False)
    with silent.executor as executor:
        assert executor.submit(run, 1).result() == 2
    assert silent.post.messages is None
