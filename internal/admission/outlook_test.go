package admission

import (
	"testing"
	"time"
)

// What a dial says is what the line's own arithmetic says: who is told what adds up
// to who waits, what is borne bounds it, and seats that those here do not want are
// not said to be sold.
func TestOutlook(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	base := Figures{
		State: Paused, Rate: 50, By: ByRate, Opens: now.Add(-time.Minute).UnixMilli(),
		Waiting: 10_000, Inside: 100, AtDoor: 40, Share: 0.5, Tickets: 2, Turn: 0.8, Called: 1000,
	}
	at := func(change func(*Figures), stock Stock, rate float64) Outlook {
		f := base
		change(&f)
		return Standing{Figures: f, Stock: stock}.Outlook(rate, now)
	}
	same := func(*Figures) {}
	// 1,100 free: 100 go to those inside, 1,000 people more at 100 a second.
	o := at(same, Stock{Free: 1100, Pending: 500}, 100)
	if o.Rate != 100 || !o.Known || !o.Enough || o.SoldOut != 10*time.Second {
		t.Errorf("sold out in %s (%v) at %g/s, want 10 s at 100", o.SoldOut, o.Enough, o.Rate)
	}
	if o.LastP50 != 80*time.Second || o.LastP90 < o.LastP50 {
		t.Errorf("the last is called in %s to %s, want 80 s at the least", o.LastP50, o.LastP90)
	}
	// 960 more are wanted by 1,200 of those waiting, 500 besides by 625.
	if o.Likely != 1200 || o.Maybe != 625 || o.Unlikely != 8175 {
		t.Errorf("told likely %d, possible %d, unlikely %d, want 1200, 625, 8175", o.Likely, o.Maybe, o.Unlikely)
	}
	if o := at(func(f *Figures) { f.By, f.Rate = ByClaims, 30 }, Stock{Free: 1100}, 100); o.Rate != 30 {
		t.Errorf("at %g/s, and claimers bear 30", o.Rate)
	}
	if o := at(same, Stock{Free: 50_000}, 100); o.Enough || o.Unlikely != 0 {
		t.Errorf("10,140 people of whom half want two are said to take 50,000 seats: %+v", o)
	}
	if o := at(same, Stock{}, 100); !o.Enough || o.SoldOut != 0 || o.Likely != 0 {
		t.Errorf("nothing is free: %+v", o)
	}
	if o := at(func(f *Figures) { f.Opens = now.Add(time.Hour).UnixMilli() }, Stock{Free: 1100}, 100); o.SoldOut != time.Hour+10*time.Second {
		t.Errorf("before the opening: sold out in %s, want 1 h 10 s", o.SoldOut)
	}
	if o := at(same, Stock{Free: 1100}, 0); o.Known {
		t.Errorf("at no rate: %+v", o)
	}
}
