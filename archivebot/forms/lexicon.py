"""The meanings of words in forms, in many languages: search, filter, login, goods, persons."""

from __future__ import annotations

import re

# Each is searched as a substring, because names join words: "txtSuchbegriff".
MEANINGS: dict[str, tuple[str, ...]] = {
    name: tuple(stems.split())
    for name, stems in {
        "search": """search srch suche suchbegriff durchsuch recherch busca buscar ricerca cerca zoek hledat
            hledan vyhled hled hľad szuka keres pesquis procur query keyword arama căuta cauta поиск искать
            найти шукати пошук търс 搜 检索 檢索 查询 查詢 查找 検索 검색 tìm caută chercher
            consultar traži iešk paieš meklē sök søk søg αναζήτ αναζητ بحث جستجو חיפוש חפש ค้นหา खोज""",
        "filter": """filter filtr filtro filtern filtra refine narrow finder advanced erweitert avanc avanz
            фильтр подбор 筛选 篩選 絞り込""",
        "log in": """login log-in signin sign-in logon passw einlogg anmeld kennwort senha connexion contrase
            username user_name benutzername вход войти пароль логин 密码 密碼 登录 登錄 登入 로그인""",
        "subscribe": "newsletter subscri abonn inscri e-mail email mailing подпис 订阅",
        "buy": "cart basket bag qty quantity warenkorb panier carrello carrinho корзин 购物车",
        "show": "sort order perpage per_page limit currency lang style theme jump",
        "write": "comment message kommentar nachricht contact kontakt contatt сообщени vote poll reply",
        "goods": """categor kategor катего 分类 price preis prix prezzo precio preço cena цена 价 brand marca
            marke marque make model manufact hersteller fabricant producer city ville ciudad cidade stadt
            город location region provinc država state country date datum fecha 日期 type tipo typ тип year
            jahr année keyword title author isbn destination departure arrival checkin guests bedroom genre
            size colo farbe""",
        "person": """firstname first_name lastname last_name surname vorname nachname prenom prénom apellido
            cognome sobrenome имя фамил telefon phone mobile телефон address adresse street strasse fax birth
            gebur naissance gender sex anrede captcha user login passw email e-mail mail kennwort senha
            comment message nachricht сообщ mensaje messaggio subject betreff sujet 姓名 电话 電話 密码 密碼
            邮箱""",
    }.items()
}

# Words that contain a word for search and have another meaning: research, and in Swedish, Danish and
# Norwegian those for visit, apply, examine and try.
LOOKALIKES = re.compile(r"research|(?:be|an|under|f[öo]r)s[öø][kg]")

# Whole names of text boxes for search terms.
SEARCH_NAMES = frozenset(
    "q s k query keyword keywords kw wd word term terms search searchword searchterm".split()
)

# Words that do not indicate the subject of a form.
OF_ANY_FORM = frozenset(
    """action all and any asp aspx box btn button by cgi com do field find for form from get go htm html id in
    index input jsp list name of or php q query results s search select submit text the to txt value
    www""".split()
)

# Words of labels that ask for a password or a user name.
PASSWORDS = """password passwd passcode passwort kennwort passe contraseña senha wachtwoord heslo hasło jelszó
    parola şifre lösenord парол 密码 密碼 パスワード 비밀번호""".split()
USER_NAMES = """username userid loginname login benutzername benutzerkennung identifiant usuario usuário
    gebruikersnaam užívatelské uživatelské felhasználónév användarnamn логин 用户名 用戶名 帐号 账号 帳號
    ユーザー名 아이디""".split()
USER_NAMES += ["user name", "user id", "login name", "member name", "screen name", "nom d'utilisateur"]
USER_NAMES += ["nome utente", "nazwa użytkownika", "kullanıcı adı", "имя пользователя"]


def whole_words(phrases: list[str]) -> re.Pattern[str]:
    """Return the pattern that finds phrases: whole words in Latin letters, elsewhere also parts of words.

    >>> find = whole_words(["passe", "密码"])
    >>> [bool(find.search(text)) for text in ("Mot de passe", "passer", "请输入密码")]
    [True, False, True]
    """
    alternatives = "|".join(map(re.escape, phrases))
    return re.compile(rf"(?<![a-zà-ž])(?:{alternatives})(?![a-zà-ž])", re.IGNORECASE)


def meanings(text: str) -> list[str]:
    """Return the possible meanings of a text in lower case.

    >>> meanings("txtsuchbegriff"), meanings("e-mail"), meanings("go"), meanings("research, besök")
    (['search'], ['subscribe', 'person'], [], [])
    """
    text = LOOKALIKES.sub("", text)
    found = []
    for name, stems in MEANINGS.items():
        for stem in stems:
            if stem in text:
                found.append(name)
                break
    return found
