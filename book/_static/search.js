// What the book adds to Sphinx's search, which reads this after its own script (html_search_scorer).

// A definition comes before a heading with the same words. Of pages that match equally well, a lesson comes before a page to look
// things up in, and an earlier lesson before a later one.
Scorer.score = ([page, , , kind, score]) =>
  score + (kind?.startsWith("term") ? 5 : 0) + (1 - parseInt(page.split("/")[1]) / 100 || 0);

// A name with dots is one word, as in the index, and a call such as tl.dot(a, b) is searched by its name.
splitQuery = (query) => query.replace(/\(.*/, "").match(/[\p{L}\p{N}_]+(?:\.[\p{L}_][\p{L}\p{N}_]*)*/gu) ?? [];
