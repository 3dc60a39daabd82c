package web

import (
	"fmt"
	"strconv"
	"time"
)

// Times are written in UTC, and say so; a script makes them the reader's own.
func clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }
func day(t time.Time) string   { return t.UTC().Format("2 January 2006, 15:04 UTC") }
func iso(t time.Time) string   { return t.UTC().Format(time.RFC3339) }

// left is how many seconds there are until t: a browser's clock may be wrong,
// a count that starts at ours is not.
func left(t time.Time) int { return max(0, int(time.Until(t).Seconds())) }

// Num writes a count as people read it: 12,345.
func Num(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Roughly writes a duration as people would say it.
func Roughly(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 90:
		return fmt.Sprintf("%d s", max(5, int(s/5+0.5)*5))
	case s < 90*60:
		return fmt.Sprintf("%d min", int(s/60+0.5))
	default:
		return fmt.Sprintf("%.1f h", s/3600)
	}
}
