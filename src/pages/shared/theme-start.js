// Runs before the page is drawn, so that it is never drawn in the other colours first.
document.documentElement.dataset.theme = localStorage.getItem('petstore-theme') ?? '';
