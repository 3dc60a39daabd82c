package archtest

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const top = "../.."

// The project as it is keeps every rule.
func TestHouse(t *testing.T) {
	all, err := read(os.DirFS(top))
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for _, s := range all {
		packages[s.pkg] = true
	}
	if len(all) < 20 || !packages["internal/pg"] || !packages["sql/migrations"] {
		t.Fatalf("read %d files of %d packages; that is not this project", len(all), len(packages))
	}
	t.Logf("%d rules over %d files of %d packages", len(rules), len(all), len(packages))
	for name, rule := range rules {
		for _, fault := range rule(all) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// What really is linked: the compiler's own list of a production binary's
// packages, libraries' own imports included.
func TestProductionBinariesAsLinked(t *testing.T) {
	seen := 0
	for _, binary := range production {
		if _, err := os.Stat(top + "/" + binary); err != nil {
			t.Logf("%s does not exist yet", binary)
			continue
		}
		cmd := exec.Command("go", "list", "-deps", "./"+binary)
		cmd.Dir = top
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v: %s", binary, err, stderr.String())
			continue
		}
		deps := strings.Fields(string(out))
		seen += len(deps)
		for _, d := range deps {
			d = strings.TrimPrefix(d, module+"/")
			if slices.ContainsFunc(aboard, func(lib string) bool { return below(d, lib+"/...") }) {
				t.Errorf("%s carries %s", binary, d)
			}
		}
	}
	if seen == 0 {
		t.Error("no package was looked at")
	}
}

// Every rule can fail: each is shown a fault, and nothing but that fault.
func TestRulesCanFail(t *testing.T) {
	bad := []struct{ rule, path, source string }{
		{"arrows", "internal/inventory/claim.go", `package inventory; import _ "waitroom/internal/orders"`},
		{"arrows", "internal/audit/money.go", `package audit; import _ "waitroom/internal/pg"`},
		{"arrows", "internal/orders/pay.go", `package orders; import _ "waitroom/internal/pgtest"`},
		{"arrows", "internal/nowhere/x.go", `package nowhere`},
		{"arrows", "cmd/waitctl/demo.go", `package main; import _ "waitroom/internal/pgtest"`},
		{"walls", "internal/orders/pay.go", `package orders; import _ "github.com/gofiber/fiber/v2/middleware/cors"`},
		{"walls", "internal/admission/store.go", `package admission; import _ "github.com/aws/aws-sdk-go-v2/service/dynamodb"`},
		{"walls", "internal/inventory/claim.go", `package inventory; import _ "github.com/nats-io/nats.go"`},
		{"walls", "internal/httpapi/join.go", `package httpapi; import _ "github.com/redis/go-redis/v9"`},
		{"production", "cmd/claimer/main.go", `package main; import _ "github.com/nats-io/nats-server/v2/server"`},
		{"names", "internal/pg/util/x.go", `package strings`},
		{"names", "internal/pg/x.go", `package helpers`},
		{"init", "internal/pg/x.go", `package pg; func init() {}`},
		{"init", "internal/pg/x_test.go", `package pg; func init() {}`},
		{"background", "internal/pg/x.go", `package pg; import "context"; var c = context.Background()`},
		{"background", "internal/pg/x.go", `package pg; import std "context"; var c = std.TODO`},
		{"sleep", "internal/pg/x_test.go", `package pg; import "time"; func f() { time.Sleep(1) }`},
		{"star", "internal/pg/x.go", "package pg; const q = `SELECT\n\t* FROM seats`"},
		{"star", "internal/pg/x.go", "package pg; const q = `UPDATE seats SET x = 1 RETURNING seats.*`"},
		{"star", "sql/audit/seats.sql", "select distinct * from seats;"},
		{"skip", "internal/pg/x_test.go", `package pg; import "testing"; func TestX(t *testing.T) { t.Skip() }`},
	}
	shown := map[string]bool{}
	for _, b := range bad {
		all := example(t, map[string]string{b.path: b.source})
		if faults := rules[b.rule](all); len(faults) != 1 {
			t.Errorf("%s finds %q in %s: %s; want one fault", b.rule, faults, b.path, b.source)
		}
		shown[b.rule] = true
	}
	for name := range rules {
		if !shown[name] {
			t.Errorf("rule %s was not shown to fail", name)
		}
	}
	deep := example(t, map[string]string{
		"cmd/claimer/main.go":      `package main; import _ "waitroom/internal/daemon"`,
		"internal/daemon/x.go":     `package daemon; import _ "waitroom/internal/inventory"`,
		"internal/inventory/x.go":  `package inventory; import _ "waitroom/internal/stack"`,
		"internal/stack/x_test.go": `package stack; import _ "waitroom/internal/demo"`,
	})
	want := "cmd/claimer > internal/daemon > internal/inventory > internal/stack: not aboard a production binary"
	if faults := carriedAboard(deep); len(faults) != 1 || faults[0] != want {
		t.Errorf("three steps down: %q, want %q", faults, want)
	}
}

// What is right is let be.
func TestRulesLetBe(t *testing.T) {
	good := example(t, map[string]string{
		"internal/orders/pay.go":          `package orders; import _ "waitroom/internal/refunds"`,
		"internal/orders/pay_test.go":     `package orders; import ("context"; _ "waitroom/internal/pgtest"); var c = context.Background()`,
		"internal/inventory/transport.go": `package inventory; import _ "github.com/nats-io/nats.go"`,
		"internal/pg/x.go":                "package pg; const q = `SELECT count(*), price * 2 FROM seats, (SELECT * FROM unnest($1::int[]) AS a (id))`; func (x) init() {}; type x struct{}",
		"internal/pg/y.go":                `package pg; type clock struct{}; func (clock) Sleep(int) {}; func f(time clock) { time.Sleep(1) }`,
		"internal/pgtest/x.go":            `package pgtest; import _ "waitroom/internal/stack"`,
		"cmd/waitctl/main.go":             `package main; import ("context"; _ "waitroom/internal/demo"); var c = context.Background()`,
		"sql/audit/seats.sql":             "select id from seats;",
		"web/node_modules/x/x.go":         `package util; func init() {}`,
		"internal/pg/x_test.go":           `package pg; import "testing"; func TestX(t *testing.T) { t.Skip("no database here") }`,
	})
	for name, rule := range rules {
		if faults := rule(good); len(faults) > 0 {
			t.Errorf("%s refuses what is right: %q", name, faults)
		}
	}
}

func example(t *testing.T, files map[string]string) []source {
	t.Helper()
	root := fstest.MapFS{}
	for p, text := range files {
		root[p] = &fstest.MapFile{Data: []byte(text)}
	}
	all, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
