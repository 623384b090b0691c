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


def test_each_pass_goes_on_where_those_before_it_have_ended():
    seen = []
    passes = Passes(lambda *at: seen.append(at), 1000)
    before = 0
    for name, share in SHARES.items():
        step = passes.begin(name)
        assert seen[-1] == (10 * before, 1000)
        step(1, 2)
        assert seen[-1] == (10 * before + 5 * share, 1000)
        before += share
        step(7, 7)
        assert seen[-1] == (10 * before, 1000)


def test_a_resumed_run_begins_where_its_first_pass_does():
    seen = []
    Passes(lambda *at: seen.append(at), 1000).begin("group")
    assert seen == [(10 * sum(SHARES[name] for name in ("look", "scan", "untouched", "settle", "cut")), 1000)]
