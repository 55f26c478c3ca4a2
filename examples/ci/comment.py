#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the result of a gate into one comment of a pull request or merge request, and updates it from then on:

    comment.py gate/gate.md [gate/gate.json]

On GitHub it reads GITHUB_TOKEN, GITHUB_REPOSITORY and the number from GITHUB_REF (refs/pull/7/merge) or $NUMBER; with
gate.json it also writes a check of the commit $HEAD_SHA: success, failure, or neutral where the gate is inconclusive,
only reports what is worse, or could not compare. On GitLab it reads GITLAB_TOKEN (an access token of the project that
may comment), CI_API_V4_URL, CI_PROJECT_ID and CI_MERGE_REQUEST_IID. Only comments of its own begin with the marker.
"""
import json
import os
import re
import sys
import urllib.error
import urllib.request

MARKER = "<!-- performance gate -->"
PAGE = 100


def call(method, url, headers, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = dict(headers, **{"Content-Type": "application/json", "User-Agent": "dladvisor-gate"})
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"comment.py: {method} {url}: {error.code} {error.reason}: {error.read().decode(errors='replace')[:300]}")
    except (urllib.error.URLError, ValueError) as error:
        sys.exit(f"comment.py: {method} {url}: {error}")


def own_comment(url, headers):
    """The id of the first comment with the marker, of all pages; or None."""
    page = 1
    while True:
        comments = call("GET", f"{url}?per_page={PAGE}&page={page}", headers)
        for comment in comments:
            if (comment.get("body") or "").startswith(MARKER):
                return comment["id"]
        if len(comments) < PAGE:
            return None
        page += 1


def needed(name):
    value = os.environ.get(name)
    if not value:
        sys.exit(f"comment.py: ${name} is not set")
    return value


def conclusion(gate):
    if gate["exit_status"] == 1:
        return "failure"
    if gate["exit_status"] == 3:
        return "action_required"
    # With `mode: report` what is worse fails nothing.
    neutral = gate["exit_status"] == 2 or gate["verdict"] in ("inconclusive", "regressed", "not comparable")
    return "neutral" if neutral else "success"


def github(text, gate):
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    repository = f"{api}/repos/{needed('GITHUB_REPOSITORY')}"
    headers = {"Authorization": f"Bearer {needed('GITHUB_TOKEN')}", "Accept": "application/vnd.github+json",
               "X-GitHub-Api-Version": "2022-11-28"}
    number = os.environ.get("NUMBER") or "".join(re.findall(r"^refs/pull/(\d+)/", os.environ.get("GITHUB_REF", "")))
    if number:
        comment = own_comment(f"{repository}/issues/{number}/comments", headers)
        if comment is None:
            call("POST", f"{repository}/issues/{number}/comments", headers, {"body": text})
        else:
            call("PATCH", f"{repository}/issues/comments/{comment}", headers, {"body": text})
    if gate is not None and os.environ.get("HEAD_SHA"):
        call("POST", f"{repository}/check-runs", headers,
             {"name": "performance", "head_sha": os.environ["HEAD_SHA"], "status": "completed",
              "conclusion": conclusion(gate),
              "output": {"title": gate["headline"][:200], "summary": text[:60000]}})


def gitlab(text):
    notes = (f"{needed('CI_API_V4_URL')}/projects/{needed('CI_PROJECT_ID')}/merge_requests/"
             f"{needed('CI_MERGE_REQUEST_IID')}/notes")
    headers = {"PRIVATE-TOKEN": needed("GITLAB_TOKEN")}
    note = own_comment(notes, headers)
    if note is None:
        call("POST", notes, headers, {"body": text})
    else:
        call("PUT", f"{notes}/{note}", headers, {"body": text})


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        text = MARKER + "\n" + file.read()
    gate = None
    if len(sys.argv) == 3:
        with open(sys.argv[2], encoding="utf-8") as file:
            gate = json.load(file)
    if os.environ.get("GITLAB_CI"):
        gitlab(text)
    else:
        github(text, gate)


if __name__ == "__main__":
    main()
