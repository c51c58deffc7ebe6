"""Times as products write them, to aware datetimes; expectations are written by hand."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from convparse.times import NO_TIME, epoch_ms, iso_time

EVENING = datetime(2026, 1, 31, 23, 59, 59, 123_000, UTC)
INDIA = timezone(timedelta(hours=5, minutes=30))


def test_the_usual_form_says_no_more_than_the_datetime():
    assert (EVENING, None) == iso_time("2026-01-31T23:59:59.123Z")


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2026-01-31T23:59:59.123456Z", EVENING.replace(microsecond=123_456)),
        ("2026-01-31T23:59:59.123456789Z", EVENING.replace(microsecond=123_456)),
        ("2026-01-31T23:59:59Z", EVENING.replace(microsecond=0)),
        ("2026-01-31T23:59Z", EVENING.replace(second=0, microsecond=0)),
        ("2026-01-31T23:59:59,123Z", EVENING),
        ("2026-01-31T23:59:59.123+00:00", EVENING),
        ("2026-02-01T05:29:59.123+05:30", EVENING.astimezone(INDIA)),
        ("2026-02-01T05:29:59.123+0530", EVENING.astimezone(INDIA)),
    ],
)
def test_other_forms_with_an_offset_are_read_and_keep_their_text(text, when):
    assert (when, text) == iso_time(text)
    assert when.utcoffset() == iso_time(text)[0].utcoffset()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-01-31",
        "2026-01-31T23:59:59.123",
        "2026-02-30T23:59:59.123Z",
        "2026-01-31T25:59:59+01:00",
        "2026-01-31 23:59:59.123Z",
        "2026-01-31T23:59:59.123Z and more",
        "２０２６-01-31T23:59:59.123Z",
    ],
)
def test_what_is_no_time_with_an_offset_stays_text(text):
    assert (None, text) == iso_time(text)


def test_milliseconds_count_from_1970():
    assert (datetime(1970, 1, 1, tzinfo=UTC), None) == epoch_ms(0)
    assert (EVENING, None) == epoch_ms(1_769_903_999_123)
    assert (datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC), None) == epoch_ms(-1)


@pytest.mark.parametrize("value", [10**15, -(10**15), 10**30])
def test_milliseconds_beyond_the_calendar_stay_text(value):
    assert (None, str(value)) == epoch_ms(value)


def test_no_time_has_neither():
    assert (None, None) == NO_TIME
