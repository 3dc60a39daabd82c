package probe

import "bytes"

// written is a line of the report's plan, its values as they stand there, quotes and
// all.
type written struct{ id, endpoint, verdict, earliest, delta []byte }

// readLine reads a line of the plan that has its five keys, once each, and nothing
// in words that needs reading twice. Of any other it says so: it is for whoever
// tells differences. The text is JSON.
func readLine(text []byte) (w written, rest []byte, ok bool) {
	if text[0] != '{' {
		return w, nil, false
	}
	for text = text[1:]; ; text = text[1:] {
		var key, value []byte
		if key, text, ok = scalar(text); !ok {
			return w, nil, false
		}
		if value, text, ok = scalar(bytes.TrimLeft(text, " \t\r\n")[1:]); !ok { // behind the colon
			return w, nil, false
		}
		to := w.of(string(key))
		if to == nil || *to != nil {
			return w, nil, false
		}
		*to = value
		if text = bytes.TrimLeft(text, " \t\r\n"); text[0] == '}' {
			return w, text[1:], w.id != nil && w.id[0] == '"' && w.endpoint != nil && w.verdict != nil && w.earliest != nil && w.delta != nil
		}
	}
}

func (w *written) of(key string) *[]byte {
	switch key {
	case `"attempt_id"`:
		return &w.id
	case `"endpoint_id"`:
		return &w.endpoint
	case `"verdict"`:
		return &w.verdict
	case `"earliest_ts"`:
		return &w.earliest
	case `"scheduled_delta_s"`:
		return &w.delta
	}
	return nil
}

// scalar is the string or number that stands next, and what follows it.
func scalar(text []byte) (value, rest []byte, ok bool) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if text[0] != '"' {
		end := bytes.IndexAny(text, ",}] \t\r\n")
		return text[:max(end, 0)], text[max(end, 0):], end > 0 && text[0] != '{' && text[0] != '['
	}
	end := 1 + bytes.IndexByte(text[1:], '"')
	value = text[:end+1]
	return value, text[end+1:], bytes.IndexByte(value, '\\') < 0
}
