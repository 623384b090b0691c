"""Whatever happens in whatever order, all seven promises hold after every step."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from locations.world import World
from shoal.locations.policy import Policy

STEPS = int(os.environ.get("SHOAL_LOCATIONS_STEPS", "0"))

POLICIES = st.builds(
    Policy,
    classes=st.sampled_from([(2,), (3,), (2, 4)]),
    slack=st.sampled_from([None, 0, 1, 2]),
    distinct_places=st.sampled_from([None, 1, 2]),
    admission=st.sampled_from(["join", "cohort"]),
    history=st.sampled_from([True, True, False]),
    digits=st.sampled_from([0, 3, 6]),
    region=st.just(20),
    drift=st.sampled_from([0.01, 0.5]),
    start=st.sampled_from([None, 2]),
)
TOWNS = [(51.5, -0.1), (51.6, 0.2), (0.0, 179.99), (0.01, -179.99), (90.0, 0.0), (-90.0, 12.0), (-33.9, 151.2)]
HOMES = st.one_of(
    st.sampled_from(TOWNS),
    st.builds(
        lambda town, north, east: (max(-90.0, min(90.0, town[0] + north / 100)), town[1] / 1.001 + east / 100),
        st.sampled_from(TOWNS),
        st.integers(-9, 9),
        st.integers(-9, 9),
    ),
)


class Machine(RuleBasedStateMachine):
    """Rules that the world knows to answer for."""

    steps = 0

    @initialize(policy=POLICIES)
    def begin(self, policy):
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.world = World(self.folder, policy)

    @rule(count=st.integers(1, 4), devices=st.sampled_from([1, 1, 3]))
    def invite(self, count, devices):
        self.world.invite(count, devices)

    @rule(homes=st.lists(HOMES, min_size=4, max_size=12), which=st.integers(0, 1))
    def crowd(self, homes, which):
        k = self.world.policy.classes[which % len(self.world.policy.classes)]
        first = len(self.world.people)
        self.world.invite(len(homes), 1)
        for number, home in enumerate(homes):
            self.world.sign_up(first + number, k, home)

    @precondition(lambda self: self.world.people)
    @rule(who=st.integers(0, 999), which=st.integers(0, 1), home=HOMES)
    def sign_up(self, who, which, home):
        k = self.world.policy.classes[which % len(self.world.policy.classes)]
        self.world.sign_up(who % len(self.world.people), k, home)

    @precondition(lambda self: self.world.devices)
    @rule(which=st.integers(0, 999), home=HOMES)
    def move(self, which, home):
        self.world.move(self.one(which), home)

    @precondition(lambda self: self.world.devices)
    @rule(which=st.integers(0, 999))
    def cancel(self, which):
        self.world.cancel(self.one(which))

    @precondition(lambda self: len(self.world.devices) > 6)
    @rule(which=st.integers(0, 999), count=st.integers(2, 6))
    def leave_together(self, which, count):
        for number in range(count):
            self.world.cancel(self.one(which + number))
            self.world.check()

    @rule()
    def work(self):
        self.world.work()

    @rule(all_of_them=st.booleans())
    def redraw(self, all_of_them):
        self.world.redraw(None if all_of_them else self.world.policy.classes[0])

    @rule()
    def restart(self):
        self.world.restart()

    def one(self, which):
        return sorted(self.world.devices)[which % len(self.world.devices)]

    def check_invariants(self, *args, **keywords):
        super().check_invariants(*args, **keywords)
        if hasattr(self, "world"):
            self.world.check()
            Machine.steps += 1

    def teardown(self):
        if hasattr(self, "world"):
            self.world.close()
            shutil.rmtree(self.folder)


def test_all_promises_hold_after_every_step():
    some = settings(
        max_examples=100 if STEPS else 12,
        stateful_step_count=100 if STEPS else 30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=not STEPS,
        database=None,
    )
    Machine.steps = 0
    while Machine.steps < max(STEPS, 100):
        run_state_machine_as_test(Machine, settings=some)
        print(f"{Machine.steps} steps", flush=True)
