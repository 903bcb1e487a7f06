# exercise: 5.1
# expects: raises ValueError: <script>alert(1)</script>
# others: pass
# Markup, scripts, escape codes, directions of writing and links in the text of an error: it stands in a feedback page.
def shifted(x):
    raise ValueError(
        "<script>alert(1)</script><img src=x onerror=alert(2)>&lt;b&gt; \x1b]8;;http://example.org\x07\x1b[2J\x00 \u202egnihton"
        " </td></tr></table><style>*{display:none}</style>javascript:alert(3) '\" onclick='x' =HYPERLINK(1)"
    )
