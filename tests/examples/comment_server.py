# SPDX-License-Identifier: Apache-2.0
"""Speaks as much of the APIs of GitHub and GitLab as comment.py uses, and refuses all else.

    comment_server.py COMMAND...     runs the command with the server's address in $API, then prints what it holds
"""
import http.server
import json
import os
import re
import subprocess
import sys
import threading

# Comments of others, more than a page of them.
comments = [{"id": number, "body": f"comment {number} <!-- performance gate -->"} for number in range(1, 131)]
checks, calls = [], []
LISTS = (r"/repos/team/model/issues/7/comments", r"/projects/42/merge_requests/7/notes")
ONES = (("PATCH", r"/repos/team/model/issues/comments/(\d+)"), ("PUT", r"/projects/42/merge_requests/7/notes/(\d+)"))


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_call(self):
        path, _, query = self.path.partition("?")
        calls.append(self.command)
        authorised = "Bearer secret" in (self.headers["Authorization"] or "") or self.headers["PRIVATE-TOKEN"] == "secret"
        if not authorised:
            return self.answer(401, {"message": "Bad credentials"})
        size = int(self.headers["Content-Length"] or 0)
        body = json.loads(self.rfile.read(size)) if size else {}
        if self.command == "GET" and path in LISTS:
            asked = dict(part.split("=") for part in query.split("&"))
            per_page, page = min(int(asked["per_page"]), 100), int(asked["page"])
            return self.answer(200, comments[per_page * (page - 1): per_page * page])
        if self.command == "POST" and path in LISTS:
            comments.append({"id": len(comments) + 1, "body": body["body"]})
            return self.answer(201, comments[-1])
        for method, pattern in ONES:
            one = re.fullmatch(pattern, path)
            if self.command == method and one:
                comments[int(one[1]) - 1]["body"] = body["body"]
                return self.answer(200, comments[int(one[1]) - 1])
        if self.command == "POST" and path == "/repos/team/model/check-runs":
            if body["conclusion"] not in ("success", "failure", "neutral", "action_required") or body["status"] != "completed":
                return self.answer(422, {"message": "Validation Failed"})
            checks.append(f"{body['head_sha']} {body['conclusion']}")
            return self.answer(201, {"id": 1})
        return self.answer(404, {"message": "Not Found"})

    do_GET = do_POST = do_PATCH = do_PUT = handle_call

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
environment = dict(os.environ, API=f"http://127.0.0.1:{server.server_address[1]}")
status = subprocess.run(sys.argv[1:], env=environment, check=False).returncode
print(json.dumps({"comments": [c["body"] for c in comments[130:]], "checks": checks, "calls": calls,
                  "others": all(c["body"].startswith("comment ") for c in comments[:130])}))
sys.exit(status)
