package archtest

import "slices"

const module = "waitroom"

// arrows: what each package of ours may import of ours, outside its tests. One
// that is not listed may not exist, but for a test's own (its name ends in
// "test", and only tests import it): give it its place first.
var arrows = map[string][]string{
	"sql":                              {},
	"web":                              {},
	"api":                              {},
	"internal/pg":                      {"sql"},
	"internal/account":                 {},
	"internal/gate":                    {},
	"internal/keyring":                 {},
	"internal/audit":                   {"sql"},
	"internal/outlet":                  {},
	"internal/seating":                 {},
	"internal/payprov":                 {},
	"internal/process":                 {},
	"internal/audience":                {},
	"internal/course":                  {},
	"internal/crowd":                   {"internal/audience"},
	"internal/notice":                  {"internal/pg"},
	"internal/draw":                    {},
	"internal/block":                   {},
	"internal/document":                {},
	"internal/availability":            {"internal/block", "internal/document", "internal/inventory"},
	"internal/admission":               {"internal/draw", "internal/keyring"},
	"internal/admission/dynamo":        {"internal/admission", "internal/draw"},
	"internal/admission/local":         {"internal/admission", "internal/draw"},
	"internal/admission/admissiontest": {"internal/admission", "internal/draw"},
	"internal/inventory":               {"internal/organiser", "internal/block", "internal/draw", "internal/notice", "internal/pg"},
	"internal/refunds":                 {"internal/inventory", "internal/notice", "internal/outlet", "internal/pg"},
	"internal/webhooks":                {"internal/organiser", "internal/notice", "internal/pg"},
	"internal/webhooks/plan":           {"internal/webhooks/plan/rule"},
	"internal/webhooks/plan/rule":      {},
	"internal/webhooks/health":         {},
	"internal/webhooks/probe":          {},
	"internal/webhooks/negative":       {},
	"internal/mutant":                  {},
	"internal/stripe":                  {"internal/outlet", "internal/refunds"},
	"internal/orders":                  {"internal/inventory", "internal/refunds", "internal/notice", "internal/pg"},
	"internal/orders/ordersmodel":      {},
	"internal/organiser":               {},
	"internal/ticket":                  {"internal/keyring", "internal/pg"},
	"internal/support":                 {"internal/organiser", "internal/pg", "internal/refunds"},
	"internal/clerk":                   {},
	"internal/listing":                 {"internal/inventory", "internal/seating", "internal/stripe"},
	"internal/httpapi": {
		"internal/account", "internal/admission", "internal/availability", "internal/block", "internal/document", "internal/gate", "internal/inventory", "internal/listing", "internal/orders", "internal/organiser", "internal/refunds", "internal/seating", "internal/support", "internal/ticket", "internal/webhooks", "api", "web",
	},
	"internal/rehearsal": {"internal/admission", "internal/seating", "internal/audience", "internal/course"},
	"internal/bench":     {"examples", "internal/admission", "internal/admission/dynamo", "internal/admission/local", "internal/availability", "internal/block", "internal/document", "internal/draw", "internal/gate", "internal/httpapi", "internal/inventory", "internal/pg", "internal/seating", "internal/stack"},
	"internal/stack":     {"internal/pg"},
	"internal/pgtest":    {"internal/stack", "internal/pg", "sql"},
	"internal/archtest":  {},
	"internal/trial":     {"internal/audit", "internal/pg", "internal/refunds", "internal/stack", "sql"},
	"internal/demo": {
		"internal/daemon", "internal/stack", "internal/audience", "internal/course", "internal/crowd", "internal/audit", "internal/payprov", "internal/rehearsal",
		"internal/seating", "internal/pg", "internal/inventory", "internal/listing", "internal/process",
		"internal/admission", "internal/admission/dynamo", "internal/organiser", "internal/ticket", "internal/webhooks", "sql",
	},
	"internal/ordeal": {
		"internal/audience", "internal/audit", "internal/crowd", "internal/demo", "internal/inventory", "internal/payprov", "internal/pg", "internal/stack", "examples",
	},
	"examples": {},
}

// composers may import everything of ours but test packages and these.
var composers = map[string][]string{
	"internal/daemon":   {"internal/stack", "internal/crowd", "internal/demo"},
	"cmd/waitroom":      {"internal/stack", "internal/crowd", "internal/demo"},
	"cmd/claimer":       {"internal/stack", "internal/crowd", "internal/demo"},
	"cmd/expirer":       {"internal/stack", "internal/crowd", "internal/demo"},
	"cmd/paycallback":   {"internal/stack", "internal/crowd", "internal/demo"},
	"cmd/refunder":      {"internal/stack", "internal/crowd", "internal/demo"},
	"cmd/courier":       {"internal/stack", "internal/crowd", "internal/demo"},
	"cmd/payprov":       {},
	"cmd/bench":         {},
	"cmd/outletproof":   {},
	"cmd/killdemo":      {},
	"cmd/mutants":       {},
	"cmd/webhooksproof": {},
	"cmd/courierproof":  {},
	"cmd/waitctl":       {},
}

// walls: a library, and the only places (a package, a package and what is
// below it, or one file) that may import it outside tests.
var walls = []struct {
	library string
	places  []string
}{
	{"github.com/gofiber/fiber/v2", []string{"internal/httpapi", "internal/daemon", "internal/bench", "cmd/..."}},
	{"github.com/aws/aws-sdk-go-v2", []string{"internal/admission/dynamo"}},
	{"go.etcd.io/bbolt", []string{"internal/admission/local", "internal/bench/join.go"}},
	{"github.com/nats-io/nats.go", []string{"internal/notice", "internal/inventory/transport.go", "internal/stack", "internal/daemon"}},
	{"github.com/nats-io/nats-server/v2", []string{"internal/stack"}},
	{"github.com/alicebob/miniredis/v2", []string{"internal/stack"}},
	{"github.com/redis/go-redis/v9", []string{"internal/httpapi/limiter.go", "internal/gate", "internal/daemon/redis.go", "internal/stack"}},
	{"github.com/go-redis/redis_rate/v10", []string{"internal/httpapi/limiter.go"}},
	{"github.com/coreos/go-oidc/v3", []string{"internal/account"}},
	{"github.com/go-jose/go-jose/v4", []string{"internal/account"}},
	{"github.com/pressly/goose/v3", []string{"internal/pg"}},
	{"rsc.io/qr", []string{"internal/ticket"}},
	{"github.com/alecthomas/kong", []string{"internal/process", "cmd/..."}},
	{"github.com/modelcontextprotocol/go-sdk", []string{"internal/clerk", "cmd/waitctl"}},
}

// production binaries may not carry these, however far down.
var (
	production = []string{"cmd/waitroom", "cmd/claimer", "cmd/expirer", "cmd/paycallback", "cmd/refunder", "cmd/courier"}
	aboard     = []string{
		"github.com/nats-io/nats-server/v2", "github.com/alicebob/miniredis/v2",
		"internal/stack", "internal/crowd", "internal/demo", "internal/rehearsal", "internal/bench",
	}
)

// shapeless are package names that say nothing of the trade.
var shapeless = []string{
	"util", "utils", "common", "helper", "helpers", "model", "models", "types", "base", "core",
	"manager", "managers", "service", "services", "impl", "lib", "misc", "shared",
}

func planned(pkg string) bool {
	_, arrow := arrows[pkg]
	_, composer := composers[pkg]
	return arrow || composer || isTestPackage(pkg)
}

func mayImport(pkg, other string) bool {
	_, listed := arrows[pkg]
	if isTestPackage(pkg) && !listed {
		return true // only tests may import it
	}
	if isTestPackage(other) {
		return listed && slices.Contains(arrows[pkg], other)
	}
	if never, composer := composers[pkg]; composer {
		return !slices.Contains(never, other)
	}
	return slices.Contains(arrows[pkg], other)
}
