package webtest

import "testing"

// TestPages runs one house and one browser for all that follows.
func TestPages(t *testing.T) {
	w := open(t)
	t.Run("a purchase by hand", w.byHand)
	t.Run("a purchase by keyboard alone", w.byKeyboard)
	t.Run("a purchase without a script", w.withoutScript)
	t.Run("the best seats, without a script", w.best)
	t.Run("a refused seat is named and the others kept", w.refused)
	t.Run("a place stays the same", w.again)
	t.Run("a place given up in one tab is given up in all", w.leftElsewhere)
	t.Run("a pass that ran out by another tab is told at the door", w.overElsewhere)
	t.Run("the back button leads to the order", w.back)
	t.Run("who pays too late is told so", w.tooLate)
	t.Run("a payment that failed can be made anew", w.paidAnew)
	t.Run("the wait never goes back and is spoken politely", w.waits)
	t.Run("who is behind the stock may stay on standby", w.stays)
	t.Run("standby needs no script", w.staysWithoutScript)
	t.Run("a latecomer is told so and gets in", w.comesLate)
	t.Run("a lobby is drawn, and checked in the browser", w.lobby)
	t.Run("nothing moves when the sale begins", w.begins)
	t.Run("a sale can be watched and joined by hand", w.besideFans)
	t.Run("a seat that comes back is offered", w.comesBack)
	t.Run("what nobody answers for is said to be paused", w.unanswered)
	t.Run("shared pages know nobody", w.shared)
	t.Run("cookies, scripts and forms are guarded", w.guarded)
	t.Run("the seat picker is quick", w.quick)
	t.Run("twenty minutes cost little, and no clock is believed", w.longWait)
	t.Run("the waiting page is light", w.light)
	t.Run("a sale in each language", w.languages)
	t.Run("an arena is chosen from", w.arena)
	t.Run("gallery", w.gallery)
}
