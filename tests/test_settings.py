"""The settings: which transports they configure, one sentence for each error, and no secret in any of
them."""

import errno
import os
import re
import stat
import traceback
from pathlib import Path

import pytest

from bot.config import (
    FIELD_BY_VARIABLE,
    PREFIX,
    Settings,
    SettingsError,
    load_mail_secret,
    load_settings,
    parse_settings,
)
from bot.email.delivery import mail_account
from tests.operations.test_private_files import without_rights

EXAMPLE = Path(__file__).parent.parent / "deploy" / "railpost.env.example"
LINE = re.compile(r"^#(RAILPOST_[A-Z_]+)=(.*)$", re.MULTILINE)

SECRET = "hunter2hunter2hunter2hunter2hunter2"
IMAP = f"imaps://play%40games.example.org:{SECRET}@mail.example.org"
SMTP = f"smtp+starttls://play:{SECRET}@mail.example.org"


def settings(**given: str) -> Settings:
    return parse_settings({PREFIX + name: value for name, value in given.items()})


def error_text(**given: str) -> str:
    with pytest.raises(SettingsError) as caught:
        settings(**given)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_without_settings_there_is_no_transport() -> None:
    bare = settings()
    assert (bare.discord, bare.mail) == (None, None)
    assert bare.database_url == "sqlite:///data/railpost.db"


def test_database_follows_the_data_folder(tmp_path: Path) -> None:
    assert settings(DATA=str(tmp_path)).database_url == f"sqlite:///{tmp_path}/railpost.db"
    assert settings(DATABASE="sqlite:///x.db").database_url == "sqlite:///x.db"


def test_a_token_configures_discord() -> None:
    discord = settings(DISCORD_TOKEN=SECRET, DISCORD_API="http://127.0.0.1:8/api/v10").discord
    assert discord is not None
    assert discord.token.get_secret_value() == SECRET
    assert (discord.api_url, discord.gateway_url) == ("http://127.0.0.1:8/api/v10", None)


def test_imap_and_smtp_configure_mail() -> None:
    mail = settings(IMAP=IMAP, SMTP=SMTP).mail
    assert mail is not None
    assert (mail.imap.host, mail.imap.port, mail.imap.tls) == ("mail.example.org", 993, "tls")
    assert (mail.imap.user, mail.imap.password.get_secret_value()) == ("play@games.example.org", SECRET)
    assert (mail.smtp.port, mail.smtp.tls, mail.smtp.user) == (587, "starttls", "play")
    assert mail.address == "play@games.example.org"


def test_a_separate_password_is_used_as_it_is() -> None:
    mail = settings(
        IMAP="imaps://game@mail.example.org",
        IMAP_PASSWORD="p@ss/%41#",
        SMTP="smtps://mail.example.org:4650",
        MAIL_ADDRESS="play@games.example.org",
    ).mail
    assert mail is not None
    assert mail.imap.password.get_secret_value() == "p@ss/%41#"
    assert (mail.smtp.port, mail.smtp.user) == (4650, "")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_unencrypted_is_for_this_machine(host: str) -> None:
    mail = settings(IMAP=f"imap://a%40b.org:x@{host}:1143", SMTP=f"smtp://{host}:1025").mail
    assert mail is not None
    assert (mail.imap.tls, mail.smtp.tls) == ("plain", "plain")


def test_unencrypted_elsewhere_must_be_allowed() -> None:
    far = {"IMAP": f"imap://a%40b.org:{SECRET}@mail.example.org", "SMTP": SMTP}
    assert "RAILPOST_IMAP would send secrets to mail.example.org unencrypted" in error_text(**far)
    allowed = settings(**far, ALLOW_PLAIN="true").mail
    assert allowed is not None
    account = mail_account(allowed.imap)
    assert (account.security, account.host) == ("plain", "mail.example.org")
    sending = settings(**far | {"SMTP": f"smtp://a:{SECRET}@x.org"}, ALLOW_PLAIN="true").mail
    assert sending is not None and mail_account(sending.smtp).security == "plain"
    assert "DISCORD_GATEWAY would send" in error_text(
        DISCORD_TOKEN=SECRET, DISCORD_GATEWAY="ws://example.org"
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"IMAP": IMAP}, "RAILPOST_IMAP is set, but mail needs RAILPOST_SMTP too."),
        ({"SMTP": SMTP}, "RAILPOST_SMTP is set, but mail needs RAILPOST_IMAP too."),
        ({"IMAP_PASSWORD": SECRET}, "but mail needs RAILPOST_IMAP and RAILPOST_SMTP too."),
        ({"IMAP": f"imaps://game:{SECRET}@x.org", "SMTP": SMTP}, "RAILPOST_MAIL_ADDRESS should be set"),
        ({"IMAP": "imaps://x.org", "SMTP": SMTP}, "RAILPOST_IMAP should name the user"),
        ({"IMAP": "imaps://a%40b.org@x.org", "SMTP": SMTP}, "RAILPOST_IMAP has a user but no password"),
        ({"IMAP": IMAP, "IMAP_PASSWORD": SECRET, "SMTP": SMTP}, "both give a password"),
        ({"IMAP": f"imaps://game:{SECRET}/@x.org"}, "RAILPOST_IMAP should look like imaps://"),
        ({"IMAP": f"imaps://game:{SECRET}#@x.org"}, "RAILPOST_IMAP should look like imaps://"),
        ({"IMAP": f"imaps://game:{SECRET}@[x.org"}, "RAILPOST_IMAP should look like imaps://"),
        ({"IMAP": f"imaps://game:{SECRET}@x.org:993993"}, "RAILPOST_IMAP should look like imaps://"),
        ({"IMAP": f"imap+starttls://game:{SECRET}@x.org"}, "RAILPOST_IMAP should look like imaps://"),
        (
            {"IMAP": "imaps://a%40b.org@x.org", "IMAP_PASSWORD": "two\nlines", "SMTP": SMTP},
            "RAILPOST_IMAP has a user or a password with a line break or the like in it.",
        ),
        ({"SMTP": "mail.example.org"}, "RAILPOST_SMTP should look like smtps://"),
        ({"MAIL_ADDRESS": "Play <play@x.org>"}, "RAILPOST_MAIL_ADDRESS should be one plain mail address"),
        ({"MAIL_ADDRESS": f"{'p' * 38}@x.org"}, "at most 37 characters before the @"),
        ({"MAIL_SECRET": "short"}, "RAILPOST_MAIL_SECRET should have at least 32 characters."),
        ({"MAIL_AUTHSERV": "two words"}, "RAILPOST_MAIL_AUTHSERV should be one name"),
        ({"STATUS_PORT": "ten"}, "RAILPOST_STATUS_PORT should be a whole number from 1 to 65535."),
        ({"STATUS_PORT": "70000"}, "RAILPOST_STATUS_PORT should be a whole number from 1 to 65535."),
        ({"GAME_KEEP_DAYS": "3 years"}, "RAILPOST_GAME_KEEP_DAYS should be a whole number from 0 to 36500."),
        ({"ROBOT_SECONDS": "61"}, "RAILPOST_ROBOT_SECONDS should be a number from 0 to 60."),
        ({"KEEP": "nan"}, "RAILPOST_KEEP should be a number from 1 to 1000000."),
        ({"ALLOW_PLAIN": "maybe"}, "RAILPOST_ALLOW_PLAIN should be true or false."),
        ({"WATCH_SITES": "18xx.games/game/1"}, "RAILPOST_WATCH_SITES should name sites such as 18xx.games"),
        ({"WATCH_SITES": "https://18xx.games/"}, "and https://18xx.games/ is none."),
        ({"MAIL_HOSTS": "anyone, ann@x.org"}, "; anyone is none of these."),
        ({"MAIL_HOSTS": "everybody"}, "RAILPOST_MAIL_HOSTS should be anyone alone, verified, or addresses"),
        ({"LOG_LEVEL": "loud"}, "RAILPOST_LOG_LEVEL should be 'debug', 'info', 'warning' or 'error'."),
        ({"DISCORD_TOKEN": f"Bot {SECRET}"}, "RAILPOST_DISCORD_TOKEN should be the bot's token alone"),
        (
            {"DISCORD_API": "example.org"},
            "RAILPOST_DISCORD_API should be an address that starts with https://",
        ),
        (
            {"DATABASE": f"mysql://me:{SECRET}@x/y"},
            "RAILPOST_DATABASE should start with one of sqlite://",
        ),
        (
            {"DATABASE": f"postgresql+psycopg://me:{SECRET}@x:port/y"},
            "RAILPOST_DATABASE should look like postgresql+psycopg://user:password@host:5432/name.",
        ),
        (
            {"DATABASE": "sqlite:///x.db?mode=ro"},
            "RAILPOST_DATABASE should name a file, and have nothing",
        ),
        ({"DATABASE": "sqlite://"}, "RAILPOST_DATABASE should name a file"),
        ({"DATA": __file__}, "RAILPOST_DATA should be a folder, and is a file."),
        (
            {"DISCORD_TOKN": SECRET},
            "RAILPOST_DISCORD_TOKN is not a setting of Railpost; did you mean RAILPOST_DISCORD_TOKEN?",
        ),
        ({"XYZZY": SECRET}, "RAILPOST_XYZZY is not a setting of Railpost."),
    ],
)
def test_each_error_is_one_sentence(given: dict[str, str], words: str) -> None:
    text = error_text(**given)
    assert words in text
    assert "\n" not in text


def test_hosts_are_words_addresses_and_domains() -> None:
    for hosts in ("Anyone", "verified", "Verified, ann@x.org", "x.org, mail.y.org bob@localhost"):
        assert settings(MAIL_HOSTS=hosts).mail_hosts == hosts


def test_one_sentence_for_each_wrong_setting() -> None:
    assert len(error_text(LOG_LEVEL="loud", ROBOT_SECONDS="-1").splitlines()) == 2


def test_no_secret_is_shown() -> None:
    full = settings(
        DISCORD_TOKEN=SECRET,
        IMAP=IMAP,
        SMTP="smtps://play@x.org",
        SMTP_PASSWORD=SECRET,
        MAIL_SECRET=SECRET,
        DATABASE=f"sqlite:///{SECRET}",
    )
    for shown in (full, full.discord, full.mail):
        assert SECRET not in repr(shown)
        assert SECRET not in str(shown)


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# ours\nRAILPOST_LOG_LEVEL=debug\nexport RAILPOST_KEEP='60'\nOTHER=1\nRAILPOST_IMAP=\n")
    found = load_settings(file, {"RAILPOST_LOG_LEVEL": "ERROR", "RAILPOST_SMTP": " ", "PATH": "/bin"})
    assert (found.log_level, found.keep, found.mail) == ("error", 60, None)


def test_a_dollar_in_the_file_is_a_dollar(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("RAILPOST_DISCORD_TOKEN=a${HOME}b#c\n")
    discord = load_settings(file, {"HOME": "/root"}).discord
    assert discord is not None
    assert discord.token.get_secret_value() == "a${HOME}b#c"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"RAILPOST_DATA=x\nRAILPOST_IMAP\n", "line 2: should be NAME=value."),
        (b"RAILPOST_LOG_LEVEL='info\n", "line 1: should be NAME=value."),
        (b"RAILPOST_DATA=\xff\n", "should be text in UTF-8."),
        (b"RAILPOST_KEEEP=4\n", "did you mean RAILPOST_KEEP?"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: bytes, words: str) -> None:
    (tmp_path / ".env").write_bytes(text)
    with pytest.raises(SettingsError, match=re.escape(words)):
        load_settings(tmp_path / ".env", {})


def test_a_missing_file_sets_nothing(tmp_path: Path) -> None:
    assert load_settings(tmp_path / ".env", {}) == Settings()


def test_a_file_in_a_folder_of_somebody_else_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`sudo -u railpost railpost status` in /root, as docs/hosting.md has it."""
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    (home := Path("root")).mkdir()
    with without_rights(home):
        assert load_settings(home / ".env", {}) == Settings()
    home.chmod(0o755)
    (home / ".env").write_text("RAILPOST_KEEP=4\n")
    with (
        without_rights(home / ".env"),
        pytest.raises(SettingsError, match="cannot be read: Permission denied"),
    ):
        load_settings(home / ".env", {})


def test_the_mail_secret_is_created_once(tmp_path: Path) -> None:
    ours = Settings(data=tmp_path / "new")
    key = load_mail_secret(ours)
    path = tmp_path / "new" / "mail-secret"
    assert len(key) == 64
    assert load_mail_secret(ours) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("cut")
    with pytest.raises(SettingsError, match="is damaged"):
        load_mail_secret(ours)
    assert load_mail_secret(settings(MAIL_SECRET=SECRET)) == SECRET.encode()


def test_a_full_disk_leaves_no_half_of_a_mail_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(SettingsError, match=r"mail-secret cannot be used: No space left on device\.$"):
            load_mail_secret(settings(DATA=str(tmp_path)))
    assert list(tmp_path.iterdir()) == []
    assert len(load_mail_secret(settings(DATA=str(tmp_path)))) == 64


def test_the_example_names_every_setting_once() -> None:
    named = [name for name, _ in LINE.findall(EXAMPLE.read_text(encoding="utf-8"))]
    assert sorted(named) == sorted(FIELD_BY_VARIABLE)


def test_there_are_not_too_many() -> None:
    """A host has to understand them all."""
    assert len(FIELD_BY_VARIABLE) <= 38


def test_the_example_can_be_used_as_a_whole() -> None:
    shown = dict(LINE.findall(EXAMPLE.read_text(encoding="utf-8")))
    full = parse_settings(shown)
    assert full.discord is not None
    assert full.mail is not None


def test_the_example_shows_the_defaults() -> None:
    shown = parse_settings(dict(LINE.findall(EXAMPLE.read_text(encoding="utf-8"))))
    for name, field in Settings.model_fields.items():
        if field.default is not None:
            assert getattr(shown, name) == field.default, name
    assert shown.database_url == Settings().database_url


def test_a_data_folder_with_a_name_too_long_is_one_sentence() -> None:
    with pytest.raises(
        SettingsError, match=r"^RAILPOST_DATA cannot be used as a folder: File name too long\.$"
    ):
        parse_settings({"RAILPOST_DATA": "d" * 5000})


def test_a_data_folder_in_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert parse_settings({"RAILPOST_DATA": "~/games"}).data == tmp_path / "games"
    with pytest.raises(
        SettingsError, match="RAILPOST_DATA cannot be used as a folder: nobody is called nobodyx"
    ):
        parse_settings({"RAILPOST_DATA": "~nobodyx/games"})
