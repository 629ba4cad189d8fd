"""The settings: environment variables `RAILPOST_…`, and the same lines in a `.env` file beside the service.

The environment takes precedence over the file; a blank value counts as unset. A `Settings` that is
constructed directly reads nothing, so a test never depends on the settings of its machine. Settings that
cannot be used raise SettingsError, with one sentence each, before anything has started, and no sentence or
repr shows a password, a token or a secret. `deploy/railpost.env.example` shows every setting.
"""

import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import unquote, urlsplit

from dotenv.parser import parse_stream
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

PREFIX = "RAILPOST_"

DATABASES = {
    "sqlite": "sqlite3",
    "postgresql+psycopg": "psycopg",
}

ROLES = ("discord", "mail", "work")
"""What processes at one PostgreSQL database may share: Discord, email, and what is due at a time with the
robots."""

Transport = Literal["discord", "mail"]

# A local part has at most 64 octets (RFC 5321 §4.5.3.1.1).
# That of a reply ends in a separator and a token of 26 octets.
MAX_LOCAL_PART = 64 - 1 - 26

Tls = Literal["tls", "starttls", "plain"]


class SettingsError(Exception):
    """One or more settings cannot be used: a sentence on each line, to be shown as it is."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """A server to log in to. tls: from the first byte, before the login, or never. user: empty for no
    login."""

    host: str
    port: int
    tls: Tls
    user: str
    password: SecretStr


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """Where access tokens for the mail servers come from, in place of passwords."""

    token_url: str
    client_id: str
    client_secret: SecretStr
    refresh_token: SecretStr
    scope: str


@dataclass(frozen=True, slots=True)
class MailSettings:
    """Everything for the mail transport.

    answers_per_hour: to one seat, before they are gathered; ten times as many in ten minutes to everybody,
    without those to moves. hosts: who may open tables by email besides people with a verified address:
    `verified` (nobody), `anyone`, or addresses and domains. oauth: None for passwords. keep_days: for which
    mail that was dealt with stays in its folder; 0 for as long as there is room. separator: empty for no
    sub-addressing. unsubscribe_url: of the page for one-click unsubscribe, which a web server passes on to
    us; empty for none.
    """

    imap: MailServer
    smtp: MailServer
    address: str
    separator: str
    authserv: str | None
    answers_per_hour: int = 20
    hosts: str = "verified"
    oauth: OAuthSettings | None = None
    keep_days: int = 90
    unsubscribe_url: str = ""


@dataclass(frozen=True, slots=True)
class Shards:
    """The shards of a process: from `first` to `last`, of `count` (numbered from 0)."""

    first: int
    last: int
    count: int

    @property
    def ids(self) -> range:
        """The numbers of the shards."""
        return range(self.first, self.last + 1)


@dataclass(frozen=True, slots=True)
class DiscordSettings:
    """Everything for Discord. api_url and gateway_url replace the addresses of the library if they are
    given. shards: None for all, as many as Discord wants."""

    token: SecretStr
    api_url: str | None
    gateway_url: str | None
    shards: Shards | None = None


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def server_parser(
    name: str, schemes: Mapping[str, tuple[int, Tls]], example: str
) -> Callable[[object], object]:
    """A parser of `scheme://user:password@host:port`. schemes: the default port and kind of TLS of each."""
    sentence = (
        f"should look like {example} (in a password write @ / ? # % as %40 %2F %3F %23 %25, "
        f"or leave it out and set {PREFIX}{name}_PASSWORD)"
    )

    def parse(value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            url = urlsplit(value)
            port, tls = schemes[url.scheme]
            port = url.port or port
        except (ValueError, KeyError):
            raise ValueError(sentence) from None
        if not url.hostname or url.path.strip("/") or url.query or url.fragment or re.search(r"\s", value):
            raise ValueError(sentence)
        user, password = unquote(url.username or ""), SecretStr(unquote(url.password or ""))
        return MailServer(url.hostname, port, tls, user, password)

    return parse


parse_imap = server_parser(
    "IMAP", {"imaps": (993, "tls"), "imap": (143, "plain")}, "imaps://user:password@mail.example.org:993"
)
parse_smtp = server_parser(
    "SMTP",
    {"smtps": (465, "tls"), "smtp+starttls": (587, "starttls"), "smtp": (25, "plain")},
    "smtps://user:password@mail.example.org:465 or smtp+starttls://user:password@mail.example.org:587",
)


def parse_shards(value: object) -> object:
    """Shards from `0-3/16`, or `4/16` for one."""
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?/(\d{1,5})", value.replace(" ", ""))
    shards = Shards(int(found[1]), int(found[2] or found[1]), int(found[3])) if found else None
    if shards is None or not shards.first <= shards.last < shards.count:
        raise ValueError("should look like 0-3/16: shards 0 to 3 of 16")
    return shards


def parse_roles(value: object) -> object:
    """Roles from `discord, mail`; `all` is all of them."""
    if not isinstance(value, str):
        return value
    words = {word.strip().lower() for word in value.split(",")}
    roles = frozenset(ROLES) if words == {"all"} else frozenset(words)
    if not roles <= set(ROLES):
        raise ValueError(f"should be all, or some of {', '.join(ROLES)} with commas between them")
    return roles


def url_validator(*schemes: str) -> AfterValidator:
    def check(value: str) -> str:
        try:
            url = urlsplit(value)
            fits = url.scheme in schemes and bool(url.hostname) and url.port != 0
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"should be an address that starts with {schemes[-1]}://")
        return value

    return AfterValidator(check)


def check_database(value: SecretStr) -> SecretStr:
    try:
        url = make_url(value.get_secret_value())
        driver = url.drivername
    except ArgumentError:
        driver = ""
    except ValueError:  # a port that is no number
        raise ValueError("should look like postgresql+psycopg://user:password@host:5432/name") from None
    if driver not in DATABASES:
        raise ValueError(f"should start with one of {', '.join(f'{name}://' for name in DATABASES)}")
    if find_spec(DATABASES[driver]) is None:
        raise ValueError(f"needs the package {DATABASES[driver]}, which is not installed")
    if driver == "sqlite" and (url.query or url.database in (None, "", ":memory:")):
        raise ValueError("should name a file, and have nothing after it: sqlite:///data/railpost.db")
    return value


def check_folder(value: Path) -> Path:
    try:
        value = value.expanduser()
        if value.exists() and not value.is_dir():
            raise ValueError("should be a folder, and is a file")
    except RuntimeError:
        raise ValueError(f"cannot be used as a folder: nobody is called {value.parts[0][1:]} here") from None
    except OSError as error:  # too long, or in a folder that may not be read
        raise ValueError(f"cannot be used as a folder: {error.strerror}") from None
    return value


def check_mail_address(value: str) -> str:
    local, _, domain = value.rpartition("@")
    if not re.fullmatch(r"[\w.!#$%&'*+/=?^`{|}~-]+", local, re.ASCII) or not re.fullmatch(
        r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", domain
    ):
        raise ValueError("should be one plain mail address such as play@games.example.org")
    if len(local) > MAX_LOCAL_PART:
        raise ValueError(f"should have at most {MAX_LOCAL_PART} characters before the @")
    return value


def check_token(value: SecretStr) -> SecretStr:
    if re.search(r"\s", value.get_secret_value()):
        raise ValueError("should be the bot's token alone, without spaces")
    return value


def check_secret(value: SecretStr) -> SecretStr:
    if len(value.get_secret_value()) < 32:
        raise ValueError("should have at least 32 characters")
    return value


def check_server_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._:-]+", value):
        raise ValueError("should be one name such as mx.example.org, as your server writes it")
    return value


def check_sites(value: str) -> str:
    """Names of sites, or origins such as `http://127.0.0.1:9292`."""
    for site in value.replace(",", " ").split():
        if not re.fullmatch(r"https?://[^/\s]+|[\w-]+(\.[\w-]+)+(:\d+)?", site):
            raise ValueError(f"should name sites such as 18xx.games, and {site} is none")
    return value


def check_hosts(value: str) -> str:
    """`anyone`; or `verified`, addresses and domains."""
    for host in value.replace(",", " ").split():
        fits = value.strip().casefold() == "anyone" or host.casefold() == "verified"
        if not fits and not re.fullmatch(r"[^@\s]+@[^@\s]+|[\w-]+(\.[\w-]+)+", host):
            raise ValueError(
                f"should be anyone alone, verified, or addresses and domains; {host} is none of these"
            )
    return value


def lowercase(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


ApiUrl = Annotated[str, url_validator("http", "https")]
GatewayUrl = Annotated[str, url_validator("ws", "wss")]


class Settings(BaseModel):
    """Every setting; the variable is `RAILPOST_` and the name in upper case. Sizes in bytes, times in
    seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    data: Annotated[Path, AfterValidator(check_folder)] = Path("data")
    database: Annotated[SecretStr, AfterValidator(check_database)] | None = None
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(lowercase)] = "info"
    card_pictures: Annotated[Literal["png", "webp"], BeforeValidator(lowercase)] = "png"
    robot_seconds: float = Field(default=2, ge=0, le=60)
    ping_holdoff: float = Field(default=20, ge=0, le=3600)
    keep: float = Field(default=200, ge=1, le=1_000_000)
    log_format: Annotated[Literal["text", "json"], BeforeValidator(lowercase)] = "text"
    status_port: int | None = Field(default=None, ge=1, le=65535)
    backup_hours: float = Field(default=24, ge=0, le=24 * 366)
    game_keep_days: int = Field(default=1095, ge=0, le=36_500)
    log_keep_days: int = Field(default=30, ge=0, le=36_500)
    watch_sites: Annotated[str, AfterValidator(check_sites)] = ""
    privacy_url: ApiUrl | None = None
    role: Annotated[frozenset[str], BeforeValidator(parse_roles)] = frozenset(ROLES)
    table_conventions: Annotated[Literal["rulebook", "18xx.games"], BeforeValidator(lowercase)] = "rulebook"

    discord_token: Annotated[SecretStr, AfterValidator(check_token)] | None = None
    discord_api: ApiUrl | None = None
    discord_gateway: GatewayUrl | None = None
    shards: Annotated[Shards | None, BeforeValidator(parse_shards)] = None

    imap: Annotated[MailServer | None, BeforeValidator(parse_imap)] = None
    imap_password: SecretStr | None = None
    smtp: Annotated[MailServer | None, BeforeValidator(parse_smtp)] = None
    smtp_password: SecretStr | None = None
    mail_address: Annotated[str, AfterValidator(check_mail_address)] | None = None
    mail_separator: Annotated[Literal["+", "-", "=", "_", "none"], BeforeValidator(lowercase)] = "+"
    mail_unsubscribe_url: ApiUrl | None = None
    mail_secret: Annotated[SecretStr, AfterValidator(check_secret)] | None = None
    mail_authserv: Annotated[str, AfterValidator(check_server_name)] | None = None
    mail_hosts: Annotated[str, AfterValidator(check_hosts)] = "verified"
    mail_answers_per_hour: int = Field(default=20, ge=1, le=10_000)

    mail_keep_days: int = Field(default=90, ge=0, le=36_500)
    oauth_token_url: ApiUrl | None = None
    oauth_client_id: str | None = None
    oauth_client_secret: SecretStr | None = None
    oauth_refresh_token: SecretStr | None = None
    oauth_scope: str | None = None

    allow_plain: bool = False

    @model_validator(mode="after")
    def _check_transports(self) -> Self:
        """Build each transport once, so that an incomplete one is refused here."""
        _ = self.discord, self.mail
        self._check_role()
        return self

    @property
    def transports(self) -> tuple[Transport, ...]:
        """The transports that are configured and that this process runs."""
        configured: dict[Transport, object] = {"discord": self.discord, "mail": self.mail}
        return tuple(name for name, given in configured.items() if given and name in self.role)

    @property
    def does_everything(self) -> bool:
        """Whether this process does all that is configured, as one that is alone does."""
        return len(self.role) == len(ROLES)

    def _check_role(self) -> None:
        """Raises ValueError for a part of the work that cannot be done, or where it cannot be shared."""
        if self.does_everything:
            return
        if not self.database_url.startswith("postgresql"):
            raise ValueError(
                f"{PREFIX}ROLE is for several processes, which need PostgreSQL; set {PREFIX}DATABASE"
            )
        if self.shards is not None and "discord" not in self.role:
            raise ValueError(f"{PREFIX}SHARDS is set, but {PREFIX}ROLE leaves discord to other processes")
        for role, found, needed in (("discord", self.discord, "DISCORD_TOKEN"), ("mail", self.mail, "IMAP")):
            if role in self.role and found is None:
                raise ValueError(f"{PREFIX}ROLE has {role}, which needs {PREFIX}{needed}")

    @property
    def database_url(self) -> str:
        """The SQLAlchemy address of the store; it may hold a password."""
        if self.database:
            return self.database.get_secret_value()
        return f"sqlite:///{self.data / 'railpost.db'}"

    @property
    def store_path(self) -> Path | None:
        """The file of the store; None for PostgreSQL."""
        url = make_url(self.database_url)
        is_file = url.get_backend_name() == "sqlite" and url.database
        return Path(str(url.database)) if is_file else None

    @property
    def discord(self) -> DiscordSettings | None:
        """The Discord settings, None without a token."""
        if self.discord_token is None:
            return None
        for name, address in (("DISCORD_API", self.discord_api), ("DISCORD_GATEWAY", self.discord_gateway)):
            if address and urlsplit(address).scheme in {"http", "ws"}:
                self._check_unencrypted(name, urlsplit(address).hostname or "", "https:// or wss://")
        return DiscordSettings(self.discord_token, self.discord_api, self.discord_gateway, self.shards)

    @property
    def mail(self) -> MailSettings | None:
        """The mail settings, None without IMAP and SMTP."""
        if self.imap is None or self.smtp is None:
            names = ("imap", "smtp", "imap_password", "smtp_password", "mail_address")
            if given := [PREFIX + name.upper() for name in names if getattr(self, name)]:
                needed = [PREFIX + name for name in ("IMAP", "SMTP") if PREFIX + name not in given]
                raise ValueError(f"{given[0]} is set, but mail needs {' and '.join(needed)} too")
            return None
        imap = self._login("IMAP", self.imap, self.imap_password, "imaps://")
        smtp = self._login("SMTP", self.smtp, self.smtp_password, "smtps:// or smtp+starttls://")
        if not imap.user:
            raise ValueError(f"{PREFIX}IMAP should name the user of the mailbox")
        return MailSettings(
            imap=imap,
            smtp=smtp,
            address=self.mail_address or self._mailbox_address(imap),
            separator=self.mail_separator.removeprefix("none"),
            unsubscribe_url=self._unsubscribe_url,
            authserv=self.mail_authserv,
            answers_per_hour=self.mail_answers_per_hour,
            hosts=self.mail_hosts,
            oauth=self.oauth,
            keep_days=self.mail_keep_days,
        )

    @property
    def _unsubscribe_url(self) -> str:
        """The address of the page for one-click unsubscribe. RFC 8058 §3.1: HTTPS."""
        url = self.mail_unsubscribe_url
        if url is None:
            return ""
        if self.status_port is None:
            raise ValueError(f"{PREFIX}MAIL_UNSUBSCRIBE_URL needs {PREFIX}STATUS_PORT, where it listens")
        if not url.startswith("https://"):
            raise ValueError(f"{PREFIX}MAIL_UNSUBSCRIBE_URL should start with https://")
        return url

    @property
    def oauth(self) -> OAuthSettings | None:
        """Where access tokens come from; None for passwords."""
        url, token = self.oauth_token_url, self.oauth_refresh_token
        if not any((url, token, self.oauth_client_id, self.oauth_client_secret, self.oauth_scope)):
            return None
        if url is None or token is None or not self.oauth_client_id:
            names = ("OAUTH_TOKEN_URL", "OAUTH_CLIENT_ID", "OAUTH_REFRESH_TOKEN")
            raise ValueError(f"{', '.join(PREFIX + name for name in names)} are needed together")
        if urlsplit(url).scheme == "http":
            self._check_unencrypted("OAUTH_TOKEN_URL", urlsplit(url).hostname or "", "https://")
        secret = self.oauth_client_secret or SecretStr("")
        return OAuthSettings(url, self.oauth_client_id, secret, token, self.oauth_scope or "")

    def _login(self, name: str, server: MailServer, password: SecretStr | None, encrypted: str) -> MailServer:
        if server.tls == "plain":
            self._check_unencrypted(name, server.host, encrypted)
        if password and server.password:
            raise ValueError(f"{PREFIX}{name} and {PREFIX}{name}_PASSWORD both give a password; keep one")
        password = password or server.password
        if self.oauth and server.user and not password.get_secret_value():
            return server
        if bool(server.user) != bool(password):
            lack = "a password but no user" if password else "a user but no password"
            raise ValueError(f"{PREFIX}{name} has {lack}")
        if not f"{server.user}{password.get_secret_value()}".isprintable():
            raise ValueError(f"{PREFIX}{name} has a user or a password with a line break or the like in it")
        return replace(server, password=password)

    def _check_unencrypted(self, name: str, host: str, encrypted: str) -> None:
        if not (self.allow_plain or is_loopback(host)):
            raise ValueError(
                f"{PREFIX}{name} would send secrets to {host} unencrypted; use {encrypted}, "
                f"or set {PREFIX}ALLOW_PLAIN=true if the connection is safe"
            )

    @staticmethod
    def _mailbox_address(imap: MailServer) -> str:
        try:
            return check_mail_address(imap.user)
        except ValueError:
            raise ValueError(
                f"{PREFIX}MAIL_ADDRESS should be set, because the user of {PREFIX}IMAP is not a mail address"
            ) from None


FIELD_BY_VARIABLE = {PREFIX + field.upper(): field for field in Settings.model_fields}


def parse_settings(given: Mapping[str, str]) -> Settings:
    """Settings from variables by their full names, such as `{"RAILPOST_DATA": "/srv/railpost"}`.

    Raises SettingsError with a sentence for each variable that is unknown or cannot be used.
    """
    if unknown := sorted(given.keys() - FIELD_BY_VARIABLE.keys()):
        raise SettingsError("\n".join(map(unknown_setting_message, unknown)))
    try:
        return Settings.model_validate({FIELD_BY_VARIABLE[name]: value for name, value in given.items()})
    except ValidationError as error:
        raise SettingsError("\n".join(map(validation_message, error.errors()))) from None


def unknown_setting_message(name: str) -> str:
    near = get_close_matches(
        name.removeprefix(PREFIX), [field.upper() for field in FIELD_BY_VARIABLE.values()], n=1
    )
    return f"{name} is not a setting of Railpost" + (f"; did you mean {PREFIX}{near[0]}?" if near else ".")


def validation_message(error: ErrorDetails) -> str:
    """`RAILPOST_KEEP should be …`; an error about several settings together names them itself."""
    cause = error.get("ctx", {}).get("error") or error["msg"].removeprefix("Input ")
    if not error["loc"]:
        return f"{cause}."
    field = str(error["loc"][0])
    return f"{PREFIX}{field.upper()} {_expected_value(field) or cause}."


def _expected_value(field: str) -> str:
    """What a number or a switch should be; empty for other settings."""
    kind, limits = Settings.model_fields[field].annotation, Settings.model_fields[field].metadata
    if kind is bool:
        return "should be true or false"
    if kind not in (int, float, int | None):
        return ""
    least, most = (next(getattr(one, name) for one in limits if hasattr(one, name)) for name in ("ge", "le"))
    return f"should be a {'number' if kind is float else 'whole number'} from {least} to {most}"


def load_settings(
    env_file: Path = Path(".env"),
    environ: Mapping[str, str] = os.environ,
    given: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of this process, from the variables `RAILPOST_…` of the environment and the file; those
    that are given take precedence.

    Raises SettingsError, also for a file that cannot be read.
    """
    read = read_env_file(env_file) | dict(environ) | dict(given or {})
    variables = {name.upper(): value.strip() for name, value in read.items()}
    return parse_settings(
        {name: value for name, value in variables.items() if name.startswith(PREFIX) and value}
    )


def read_env_file(env_file: Path) -> dict[str, str]:
    """The variables that a `.env` file sets, with their values as they are; none if there is no file, or
    where we may not look: in the home of who runs us by `sudo -u`."""
    variables = {}
    try:
        with env_file.open(encoding="utf-8") as lines:
            for line in parse_stream(lines):
                if line.error or (line.key and line.value is None):
                    raise SettingsError(f"{env_file}, line {line.original.line}: should be NAME=value.")
                if line.key and line.value is not None:
                    variables[line.key] = line.value
    except UnicodeDecodeError:
        raise SettingsError(f"{env_file} should be text in UTF-8.") from None
    except OSError as error:
        if not os.path.exists(env_file):
            return {}
        raise SettingsError(f"{env_file} cannot be read: {error.strerror}.") from None
    return variables


def load_mail_secret(settings: Settings) -> bytes:
    """The key that signs mail, created on first use and kept in `mail-secret` in the data folder.

    It belongs in a backup: with another key, replies to mail that is already sent are no longer understood.
    Raises SettingsError if the file is too short, or cannot be created.
    """
    if settings.mail_secret:
        return settings.mail_secret.get_secret_value().encode()
    path = settings.data / "mail-secret"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _create_mail_secret(path)
        key = path.read_bytes().strip()
    except OSError as error:
        raise SettingsError(f"{path} cannot be used: {error.strerror}.") from None
    if len(key) < 32:
        raise SettingsError(f"{path} is damaged; restore it from a backup, or delete it to get a new one.")
    return key


def _create_mail_secret(path: Path) -> None:
    """Write a new key to a file that gets its name when it is whole: a full disk leaves no half of it."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # of another process
            os.link(part, path)
    finally:
        part.unlink(missing_ok=True)
