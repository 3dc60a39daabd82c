package httpapi

import "bytes"

// coding is how an answer is sent.
type coding int

const (
	asIs coding = iota
	asGzip
	asNothing // neither is taken
)

// codingFor chooses by Accept-Encoding as RFC 9110 has it (12.5.3): whatever has
// the higher weight, gzip of two alike; a star stands for what is not named; and
// to send it as it is is right unless it is refused by name or by star.
func codingFor(accepted []byte) coding {
	gzip, identity, star := unnamed, unnamed, unnamed
	for rest, more := accepted, true; more; {
		var one []byte
		one, rest, more = bytes.Cut(rest, []byte(","))
		name, weight, _ := bytes.Cut(one, []byte(";"))
		name = bytes.TrimSpace(name)
		switch {
		case bytes.EqualFold(name, []byte("gzip")), bytes.EqualFold(name, []byte("x-gzip")):
			gzip = thousandths(weight)
		case bytes.EqualFold(name, []byte("identity")):
			identity = thousandths(weight)
		case bytes.Equal(name, []byte("*")):
			star = thousandths(weight)
		}
	}
	if gzip == unnamed {
		gzip = max(star, 0)
	}
	if identity == unnamed && star == 0 {
		identity = 0
	}
	switch {
	case gzip > 0 && gzip >= identity:
		return asGzip
	case identity != 0: // unnamed too
		return asIs
	}
	return asNothing
}

const unnamed = -1

// thousandths reads a weight, "q=0.5"; without one it is 1.
func thousandths(weight []byte) (n int) {
	q, weighed := bytes.CutPrefix(bytes.TrimLeft(weight, " \t"), []byte("q="))
	if !weighed {
		q, weighed = bytes.CutPrefix(bytes.TrimLeft(weight, " \t"), []byte("Q="))
	}
	if !weighed || len(q) == 0 || q[0] != '0' {
		return 1000
	}
	for i := range 3 {
		n *= 10
		if at := i + len("0."); at < len(q) && q[at] >= '0' && q[at] <= '9' {
			n += int(q[at] - '0')
		}
	}
	return n
}

func takesGzip(accepted []byte) bool { return codingFor(accepted) == asGzip }
