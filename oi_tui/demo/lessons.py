"""Scripts that show the main features: approval, errors, fixes, variables, follow-up questions."""

import re

from oi_tui.demo.talk import CodeToRun, Reply, Say, Talk, Think
from oi_tui.demo.task import Task, quote_lines, report_unexpected, request_pattern

ASK = r"""
name = input("What is your name? ")
number = int(input("And a whole number from 2 to 1,000,000? "))
if not 2 <= number <= 1_000_000:
    raise ValueError(f"{number} is not between 2 and 1,000,000")
print(f"Thank you, {name}.")
"""

ASK_AGAIN = r"""
while True:
    answer = input("A whole number from 2 to 1,000,000, in digits? ")
    if answer.isdecimal() and 2 <= int(answer) <= 1_000_000:
        break
    print(f"{answer!r} is not one.")
number = int(answer)
print(f"Thank you, {name}.")
"""

USE_ANSWER = r"""
factors, rest, divisor = [], number, 2
while divisor * divisor <= rest:
    if rest % divisor:
        divisor += 1
    else:
        factors.append(divisor)
        rest //= divisor
factors.append(rest)
print(f"{name}, {number} = {' x '.join(map(str, factors))}")
"""

BROKEN = r"""
basket = {"apples": 1.20, "pears": "0.80", "plums": 2.50}
total = sum(basket.values())
print(f"{len(basket)} kinds of fruit for {total:.2f}")
"""

REPAIRED = r"""
total = sum(float(price) for price in basket.values())
print(f"{len(basket)} kinds of fruit for {total:.2f}")
"""

COUNT = r"""
import time

for number in range(1, 11):
    square = number * number
    print(f"{number:2} squared is {square:3}", flush=True)
    time.sleep(PAUSE)
print("counted to the end")
"""

GO_ON = r"""
import time

print(f"I remember that we got to {number}.")
for number in range(number + 1, 11):
    print(f"{number:2} squared is {number * number:3}", flush=True)
    time.sleep(0.2)
print("counted to the end")
"""


def _ask(talk: Talk) -> Reply:
    step = talk.last
    if step is None:
        return [
            Say("This code asks you two things while it runs. Answer in the field that appears.\n\n"),
            CodeToRun("python", ASK.strip()),
        ]
    if "ValueError" in step.error:
        return [
            Say(
                f"I cannot use that as a number: `{step.error}`. This time the code asks until it gets "
                "one.\n\n"
            ),
            CodeToRun("python", ASK_AGAIN.strip()),
        ]
    if step.error:
        return report_unexpected(step)
    answer = re.search(r"^(.+), (\d+) = ([\dx ]+)$", step.output, re.MULTILINE)
    if not answer:
        return [
            Say("Python remembers what you said, so the next piece of code can use it.\n\n"),
            CodeToRun("python", USE_ANSWER.strip()),
        ]
    name, number, factors = answer[1].strip(), answer[2], answer[3].strip()
    kind = "a product of primes" if "x" in factors else "a prime itself"
    return [Say(f"{name}, your number {number} is {kind}: **{factors}**.")]


def _break(talk: Talk) -> Reply:
    step = talk.last
    if step is None:
        return [
            Think("One of the three prices must be a text, so that adding them up fails."),
            Say("I will make a mistake on purpose: adding up prices, one of which is a text.\n\n"),
            CodeToRun("python", BROKEN.strip()),
        ]
    if step.code.strip() == REPAIRED.strip() and step.error:
        return report_unexpected(step)
    if step.error:
        return [
            Say(
                f"It failed as it should: `{step.error}`. The price of the pears is a text. `basket` is "
                "still in memory, so only the sum has to be done again.\n\n"
            ),
            CodeToRun("python", REPAIRED.strip()),
        ]
    text = next((line.strip() for line in step.output.splitlines() if line.strip()), "nothing")
    return [Say(f"Repaired: **{text}**.")]


def _count(talk: Talk) -> Reply:
    step = talk.last
    if step is None:
        return [
            Say(
                "I will count to ten, slowly. Watch the line that runs now, or press escape to stop; "
                "then say `go on`.\n\n"
            ),
            CodeToRun("python", COUNT.strip().replace("PAUSE", "0.8")),
        ]
    if step.error:
        return report_unexpected(step)
    last = re.findall(r"(\d+) squared is +(\d+)", step.output)
    if "counted to the end" not in step.output or not last:
        return [Say(f"It printed:\n\n{quote_lines(step.output)}")]
    return [Say(f"Done: the last line was `{last[-1][0]} squared is {last[-1][1]}`.")]


def _go_on(talk: Talk) -> Reply:
    step = talk.last
    if step is None:
        return [
            Say("The variable `number` outlives the code that was stopped, so I can go on from there.\n\n"),
            CodeToRun("python", GO_ON.strip()),
        ]
    if "NameError" in step.error:
        return [
            Say(
                "Python remembers no `number`, so nothing was being counted. Say `count slowly`, stop it "
                "halfway with escape, and then say `go on`."
            )
        ]
    return report_unexpected(step) if step.error else _count(talk)


LESSONS = (
    Task(
        "ask me something",
        "runs code that waits for your answers",
        request_pattern(r"\bask me\b|\basks? (a )?question"),
        _ask,
        lambda _talk: ("shell", 'printf "What is your name? "\nread -r name\necho "Thank you, $name."'),
    ),
    Task(
        "break something",
        "fails on purpose, reads the traceback and repairs it",
        request_pattern(r"\b(break|fail|error)\b"),
        _break,
        lambda _talk: ("shell", "cat /no/such/file; echo status $?"),
    ),
    Task(
        "count slowly",
        "takes ten seconds: time to see the active line, and to stop it",
        request_pattern(r"\bcount\b"),
        _count,
        lambda _talk: ("python", COUNT.strip().replace("PAUSE", "0.1")),
    ),
    Task(
        "go on",
        "continues a count that you stopped, from what Python remembers",
        request_pattern(r"^\s*(go on|continue|carry on)\b"),
        _go_on,
        lambda _talk: ("shell", "seq 1 10"),
    ),
)
