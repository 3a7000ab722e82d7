"""People from spreadsheets and from directories: roles follow from titles and managers, faults have their places."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.matching.language.reader import UnreadableText
from posthouse.organisation.directory import Directory, Group, Role, User
from posthouse.organisation.form.ldif import dn_key, read_ldif
from posthouse.organisation.form.parse import parse_directory
from posthouse.organisation.form.print import print_directory
from posthouse.organisation.form.sheet import read_sheet

SHEET = """\
Name;E-mail;Job Title;Manager;Department;Aliases;Active;Shoe size
Zoë Okafor;zoe@alpha.example;Chief;Zoë Okafor;House;;yes;38
Ann Li;ann@Alpha.example;Head;zoe@alpha.example;Sales;"a.li@alpha.example; SMTP:li@alpha.example; sip:li";yes;
Ben Ray;ben@alpha.example;Head;Zoë Okafor;Legal;;no;
Cy Dor;cy@alpha.example;Clerk;ann li;Sales;;yes;
Di Fox;di@alpha.example;Clerk;ann@alpha.example;Sales;;yes;

;;Clerk;Ben Ray;Legal;;;
"""
LDIF = """\
version: 1
# people
dn: cn=Zoe Okafor,ou=House,dc=alpha,dc=example
objectClass: person
cn;lang-en: Zoe
cn:: Wm/DqyBPa2Fmb3I=
mail: zoe@alpha.example
title: Chief
manager: cn=Zoe Okafor, ou=House, dc=alpha, dc=example

dn: cn=Ann\\, Li,ou=Sales,dc=alpha,dc=example
objectClass: inetOrgPerson
cn: Ann Li
proxyAddresses: smtp:a.li@alpha.example
proxyAddresses: SMTP:ann@alpha.example
proxyAddresses: sip:ann@alpha.example
title: Head of
  Sales
l: Oslo
manager: CN=Zoe Okafor,OU=House,DC=alpha,DC=example
userAccountControl: 514
jpegPhoto:: AAAA

dn: cn=printer,ou=things,dc=alpha,dc=example
objectClass: computer
mail: printer@alpha.example

dn: cn=sales,ou=groups,dc=alpha,dc=example
objectClass: groupOfNames
cn: Sales
mail: sales@alpha.example
member: cn=Ann\\2C Li,ou=Sales,dc=alpha,dc=example
rfc822MailMember: eve@far.example

dn: cn=quiet,ou=groups,dc=alpha,dc=example
objectClass: groupOfNames
member: cn=nobody
"""


def told(text: str, *, is_ldif: bool = False) -> list[str]:
    with pytest.raises(UnreadableText) as raised:
        _ = read_ldif(text) if is_ldif else read_sheet(text)
    return [str(problem) for problem in raised.value.problems]


def test_roles_follow_from_titles_and_managers() -> None:
    found = read_sheet(SHEET)
    assert found.roles == (
        Role("Chief", "", "House", ("zoe@alpha.example",)),
        Role("Head, Sales", "Chief", "Sales", ("ann@alpha.example",)),
        Role("Head, Legal", "Chief", "Legal", ("ben@alpha.example",)),
        Role("Clerk, Sales", "Head, Sales", "Sales", ("cy@alpha.example", "di@alpha.example")),
        Role("Clerk, Legal", "Head, Legal", "Legal"),
    )
    assert found.users[1] == User("ann@alpha.example", "Ann Li", ("a.li@alpha.example", "li@alpha.example"))
    assert [user.is_disabled for user in found.users] == [False, False, True, False, False]
    assert [unit.name for unit in found.units] == ["House", "Sales", "Legal"]
    assert parse_directory(print_directory(found)) == found


def test_a_sheet_may_name_the_roles_itself() -> None:
    text = (
        "role\treports_to\taddress\tdeputy\nHead\t\ta@x.example\tb@x.example\n"
        "Clerk\thead\tb@x.example\nClerk\t\ta@x.example\n"
    )
    assert read_sheet(text).roles == (
        Role("Head", "", "", ("a@x.example",), ("b@x.example",)),
        Role("Clerk", "Head", "", ("b@x.example", "a@x.example")),
    )


def test_the_same_title_under_two_managers_of_a_unit_is_two_roles() -> None:
    text = (
        "mail,first name,surname,title,manager,id\na@x.example,Ann,Li,Head,,1\nb@x.example,Ben,,Head,,2\n"
        "c@x.example,,,Clerk,1,3\nd@x.example,,,Clerk,2,4\ne@x.example,,,,1,5\n"
    )
    names = [(role.name, role.reports_to) for role in read_sheet(text).roles]
    assert names == [
        ("Head", ""), ("Clerk, under Ann Li", "Head"), ("Clerk, under Ben", "Head"), ("Staff", "Head"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            'Name,Mail,Manager\nAnn,ann@x.example,bne@x.example\nBen,ben@@x.example,ann@x.example\n"Cy,cy\n',
            ["line 2, column 19: expected a manager who stands in the list", "line 3, column 5: expected an address",
             "line 4, column 1: expected a quotation mark at the end of the value"],
        ),
        ("a,b\n", ['expected a first line with the names of columns, one of them address, found "a", "b"']),
        ("", ["line 1, column 1: expected a first line with the names of columns"]),
        ("mial,x\n", ["(did you mean mail?)"]),
        ("mail,e-mail\n", ["line 1, column 6: expected one column with the address, found a second one"]),
        ("mail\na@x.example,b\n", ['line 2, column 13: expected 1 columns, as in the first line, found one more, "b"']),
        ("mail,active\na@x.example,perhaps\n", ['expected yes or no, found "perhaps"']),
        ("mail,aliases\na@x.example,b@x.example\nb@x.example,\n", ["expected an address of one owner"]),
        (
            "mail,name,manager\na@x.example,Ann,\nb@x.example,Ann,\nc@x.example,Cy,ann\n",
            ['line 4, column 16: expected a manager of whom there is one, found "ann" (2 lines are called so'],
        ),
        (
            "mail,manager\na@x.example,b@x.example\nb@x.example,a@x.example\n",
            ['found "Staff, under b@x.example" → "Staff, under a@x.example" → "Staff, under b@x.example"'],
        ),
        (
            "mail,role,manager\na@x.example,A,\nb@x.example,B,\nc@x.example,C,A\nd@x.example,C,B\n",
            ['line 5, column 15: expected one role above "C", found "B" (a line before says A)'],
        ),
        ("mail,name\na@x.example,A\u202eB\n", ["expected a value without control signs"]),
        ("mail," * 300 + "\n", ["expected at most 200 columns"]),
    ],
)  # fmt: skip
def test_faults_of_a_sheet_have_their_places(text: str, problems: list[str]) -> None:
    found = told(text)
    for expected in problems:
        assert any(expected in problem for problem in found), found


def test_a_directory_gives_people_and_groups() -> None:
    found = read_ldif(LDIF)
    assert found.users == (
        User("zoe@alpha.example", "Zoë Okafor"),
        User("ann@alpha.example", "Ann Li", ("a.li@alpha.example",), "Oslo", is_disabled=True),
    )
    assert found.roles == (
        Role("Chief", "", "House", ("zoe@alpha.example",)),
        Role("Head of Sales", "Chief", "Sales", ("ann@alpha.example",)),
    )
    assert found.groups == (Group("sales@alpha.example", "Sales", members=("ann@alpha.example", "eve@far.example")),)
    assert read_ldif(LDIF.replace("\n", "\r\n")) == found


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("CN=Zoe O", "CN=Zoe K", "(did you mean cn=zoe okafor,ou=house,dc=alpha,dc=example?)"),
        ("mail: sales", "mail:< file:///etc/x", "line 31, column 1: expected the value itself, found the address"),
        ("member: cn=Ann", "member: cn=Bnn", "line 32, column 9: expected a member who stands in the text"),
        ("Wm/DqyBPa2Fmb3I=", "Wm/DqyBPa2Fmb3I", "expected text in base64 and UTF-8 as the value of cn"),
        ("Wm/DqyBPa2Fmb3I=", "/w==", "expected text in base64 and UTF-8 as the value of cn"),
        ("version: 1", "version: 2", "line 1, column 1: expected version: 1"),
        ("title: Chief", "changetype: modify", "expected records of content, found changetype: modify"),
        ("title: Chief", "title Chief", 'such as mail: ann@alpha.example, found "title Chief"'),
        ("dn: cn=Zoe", "cn: cn=Zoe", "expected a record that begins with dn:"),
        ("mail: zoe@", "mail: zoe@@", "line 7, column 7: expected an address"),
    ],
)  # fmt: skip
def test_faults_of_ldif_have_their_places(old: str, new: str, problem: str) -> None:
    assert old in LDIF
    found = told(LDIF.replace(old, new, 1), is_ldif=True)
    assert any(problem in each for each in found), found


def test_distinguished_names_are_compared_as_they_are_meant() -> None:
    assert dn_key("CN = Ann\\2C Li , OU=Sales") == dn_key("cn=Ann\\, Li,ou=sales")
    assert dn_key("cn=a,ou=b") != dn_key("cn=a\\,ou=b")


LINES = st.sampled_from((
    "dn: cn=a", "dn:: Y249YQ==", "cn: a", "mail: a@x.example", "manager: cn=a", " continued", "", "# note", "title:: ?",
    "objectClass: group", "member: cn=a", ":", "mail:<x", "proxyAddresses: SMTP:b@x.example", "a;b: c", "\u202e: x",
))  # fmt: skip


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_any_ldif_is_read_or_told(text: str) -> None:
    try:
        found = read_ldif(text)
    except UnreadableText:
        return
    assert parse_directory(print_directory(found)) == found


CELLS = st.sampled_from((
    "a@x.example", "b@x.example", "Ann", '"', '""', '"A;B"', ",", ";", "\n", "\r\n", "mail", "name", "title", "manager",
    "id", "yes", " ", "@", "role", "1",
))  # fmt: skip


@given(
    st.lists(CELLS, max_size=30).map("".join), st.sampled_from(("", "mail,name,manager,title\n", "mail;role;boss\n"))
)
def test_any_sheet_is_read_or_told(text: str, head: str) -> None:
    try:
        found = read_sheet(head + text)
    except UnreadableText:
        return
    assert parse_directory(print_directory(found)) == found


def test_long_values_in_base64_are_read() -> None:
    name = base64.b64encode(("N" * 200).encode()).decode()
    folded = "\n ".join([name[at : at + 60] for at in range(0, len(name), 60)])
    assert read_ldif(f"dn: cn=a\nmail: a@x.example\ncn:: {folded}\n").users[0].name == "N" * 200
    assert read_ldif("") == Directory()
