from shoal.stream.passes import SHARES, Passes


def test_the_passes_make_up_the_whole():
    assert sum(SHARES.values()) == 100


def test_it_rises_and_ends_at_the_size():
    seen = []
    passes = Passes(lambda *at: seen.append(at), 1000)
    for name in ("look", "scan", "group"):  # a resumed run leaves some out
        step = passes.begin(name)
        step(1, 2)
        step(0, 2)
        step(5, 2)
    passes.end()
    done = [at for at, _ in seen]
    assert done == sorted(done)
    assert seen[-1] == (1000, 1000)


def test_nobody_needs_to_listen():
    Passes(None, 0).begin("scan")(1, 1)
