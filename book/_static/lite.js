// A browser starts Python only for a page that comes from a server. Where the book is read from disk, say so, with the command.
"use strict";

(() => {
  const line = document.querySelector(".lite");
  if (!line || location.protocol !== "file:") return;
  const [, folder, page] = decodeURI(location.pathname).match(/^\/?(.*)\/(notebooks\/[^/]*)$/);
  const root = /^[A-Za-z]:/.test(folder) ? folder : `/${folder}`; // Windows writes /C:/…

  const command = document.createElement("code");
  command.textContent = `python3 -m http.server --directory "${root}"`;
  const address = document.createElement("a");
  address.textContent = address.href = `http://localhost:8000/${page}`;

  const said = line.querySelector("span");
  said.replaceChildren("A browser runs Python only in a page that comes from a server. Start one, ", command, ", then open ", address, ".");
  line.querySelector("a").replaceWith("Open this lesson in your browser:");
})();
