package webtest

import (
	"testing"
)

// TestPages runs one house and one browser for all that follows.
func TestPages(t *testing.T) {
	w := open(t)
	t.Run("a purchase by hand", w.byHand)
	t.Run("gallery", w.gallery)
}

func (w *world) byHand(t *testing.T) {
	b := w.tab(t)
	b.open("/")
	b.press("Winter concert")
	b.press("Join the line")
	b.heading("It is your turn")
	b.press("Go in")
	b.heading("Choose your seats")
	b.sees("the map", "!document.querySelector('.hall').hidden")
}
