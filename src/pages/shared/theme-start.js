// Runs before the page is drawn, so that it is never drawn in the other colours first. A browser may refuse to keep anything.
try {
  document.documentElement.dataset.theme = localStorage.getItem('petstore-theme') ?? '';
} catch {
  document.documentElement.dataset.theme = '';
}
