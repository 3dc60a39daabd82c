package plan

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrContract is of terms that cannot be used. No default stands in for any.
var ErrContract = errors.New("the contract is unusable")

// Contract is what holds for all endpoints.
type Contract struct {
	Factor, Slack, DeadLetterAfter, SuccessMin, SuccessMax int64
}

// Endpoint is what holds for one.
type Endpoint struct {
	ID, State                     string
	MaxAttempts, BackoffBase, Gap int64
}

// Attempt is a row of the ledger. The delivery is known only of the tables.
type Attempt struct {
	ID, Endpoint, Delivery    string
	No, Start, Finish, Status int64 // a status below 0 is none
}

func (a Attempt) lane() string {
	if a.Delivery != "" {
		return a.Delivery
	}
	return a.Endpoint
}

// Facts are all that a plan is made of. Times are in seconds, or in the unit that
// is named.
type Facts struct {
	Contract  Contract
	Endpoints []Endpoint
	Attempts  []Attempt
	Unit      string
}

// FromDir reads retry.env, endpoints.tsv and attempts.tsv. What is wrong with the
// terms is an ErrContract; anything else is a fact that cannot be had.
func FromDir(dir string) (f Facts, err error) {
	if f.Contract, err = ReadContract(filepath.Join(dir, "retry.env")); err != nil {
		return Facts{}, err
	}
	if f.Endpoints, err = readEndpoints(filepath.Join(dir, "endpoints.tsv")); err != nil {
		return Facts{}, err
	}
	f.Attempts, err = readAttempts(filepath.Join(dir, "attempts.tsv"))
	return f, err
}

// errNoFile is of what cannot be read at all, whatever is in it.
var errNoFile = errors.New("cannot be read")

// lines calls f with each line of a file that is not blank, and names the line in
// what f complains of.
func lines(path string, f func(line string) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoFile, err)
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for, a device has no end
		return fmt.Errorf("%w: %s is not a file", errNoFile, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoFile, err)
	}
	defer file.Close() //nolint:errcheck // read only
	return scan(file, path, f)
}

// rows calls f with the columns of each line. The first may be one of names
// instead; wherever else such a line stands, it is a row as any other.
func rows(path string, f func(columns []string) error, names ...string) error {
	top := true
	return lines(path, func(line string) error {
		named := top && slices.Contains(names, line)
		if top = false; named {
			return nil
		}
		return f(strings.Split(line, "\t"))
	})
}

// scan reads lines of up to 64 KiB.
func scan(from io.Reader, path string, f func(line string) error) error {
	s := bufio.NewScanner(from)
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !utf8.ValidString(line) {
			return fmt.Errorf("%s:%d: is not UTF-8", path, n)
		}
		if err := f(line); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// whole reads a whole number from 0 on: digits, and nothing else.
func whole(what, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strings.Trim(text, "0123456789") != "" {
		return 0, fmt.Errorf("%s is %q, want a whole number of 64 bits", what, text)
	}
	return n, nil
}
