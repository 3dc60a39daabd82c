package webtest

import "fmt"

// The ways through a sale, as one person walks them.

func (b *tab) join(event string) {
	b.t.Helper()
	b.open("/e/" + event)
	b.press("Join the line")
	b.sees("the place", "location.pathname.endsWith('/place') && document.readyState === 'complete'")
}

// goIn joins and is let in.
func (b *tab) goIn(event string) {
	b.t.Helper()
	b.join(event)
	b.called()
	if b.noScript {
		for b.title() == "It is your turn" { // who came first goes in first
			b.leave("Go in")
		}
	} else {
		b.press("Go in")
	}
	b.heading("Choose your seats")
}

// called waits for the turn, as the page has it done: by itself, or by asking.
func (b *tab) called() {
	b.t.Helper()
	if !b.noScript {
		b.heading("It is your turn")
		return
	}
	until(b.t, "it is this person's turn", func() bool {
		if b.title() == "You are in the line" {
			b.leave("Check my place")
		}
		return b.title() == "It is your turn"
	})
}

// title is the page's heading, once there is one.
func (b *tab) title() string {
	b.t.Helper()
	b.sees("a page", "document.readyState === 'complete' && document.querySelector('h1')")
	return ask[string](b, "document.querySelector('h1').textContent.trim()")
}

// tick chooses a seat in the list, as a keyboard or a mouse would, whichever
// folds it lies in.
func (b *tab) tick(seats ...string) {
	b.t.Helper()
	for _, guid := range seats {
		b.sees("the seat "+guid, fmt.Sprintf("document.querySelector('input[value=\"%s\"]')", guid))
		ask[bool](b, fmt.Sprintf(`(() => {
			const box = document.querySelector('input[value="%s"]');
			for (let d = box.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
			if (!box.checked) box.click();
			return box.checked })()`, guid))
	}
}

// take chooses seats and takes them; the order's page follows.
func (b *tab) take(seats ...string) {
	b.t.Helper()
	b.tick(seats...)
	b.press("Take these seats")
	b.sees("the order", "location.pathname.includes('/orders/') && document.readyState === 'complete'")
}

// checkout goes to the provider's page.
func (b *tab) checkout() {
	b.t.Helper()
	b.press("Pay ")
	b.sees("the provider's page", fmt.Sprintf("location.href.startsWith(%q) && document.readyState === 'complete'", b.w.house.ProviderURL))
}

// pay pays, and waits for the order to know it.
func (b *tab) pay() {
	b.t.Helper()
	b.checkout()
	b.press("Pay")
	b.sees("the order is paid", "document.querySelector('#order[data-status=paid]') && document.readyState === 'complete'")
}
