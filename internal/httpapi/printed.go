package httpapi

import (
	"sync"
	"time"

	"waitroom/internal/document"
)

// printed is a document that nobody made beforehand: it is made for the first who
// asks, and stands for a second, or until what it was made from is another. Of
// all who ask meanwhile nobody makes it again; they wait for the one who does.
type printed struct {
	mu   sync.Mutex
	at   time.Time
	from any // comparable
	doc  document.Document
}

func (k *printed) made(now time.Time, from any, anew func(time.Time) ([]byte, error)) (document.Document, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.doc.Body != nil && k.from == from && now.Sub(k.at) < time.Second {
		return k.doc, nil
	}
	body, err := anew(now)
	if err != nil {
		return document.Document{}, err
	}
	doc, err := document.New(body)
	if err == nil {
		k.doc, k.at, k.from = doc, now, from
	}
	return doc, err
}

// press has the pages that are the same for everyone, by what they show.
type press struct{ by sync.Map }

func (k *press) of(page string) *printed {
	if known, ok := k.by.Load(page); ok {
		return known.(*printed)
	}
	made, _ := k.by.LoadOrStore(page, &printed{})
	return made.(*printed)
}
