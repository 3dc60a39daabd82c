# make demo    a whole on-sale on this machine: ARGS="--fans 20000 --rate 50 --exit"
# make build   every program, into bin/
# make test    everything, on real servers; installs what is missing
# make outlet-proof  the refunds' outlet, slow, cut, stopped and killed, against the provider's own log
# make courier-proof  what organisers are promised, against fifty receivers of which fifteen are bad
# make kill-demo  a sale in which every process and server is killed in turn, at named points too: ARGS="-short"
# make webhooks-negative  each judgement of the plan audit put back to what it was when wrong, and caught
# make mutants  a defect seeded against each promise, one by one, and caught: ARGS="P1 P8 quota"
# make bench   the line and the claims against their anchors: BENCH lines, and bench/results.json
# make assets  web/src into web/assets, and api/openapi.yaml into TypeScript; both are committed
# make check   format, vet, staticcheck, the import plan, and tsc on web/src where node is
# make fmt     gofumpt
SHELL := /bin/bash
export PATH := $(PATH):/usr/local/go/bin

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
GO_SOURCES  := $(wildcard cmd examples internal sql web/*.go)

.PHONY: demo build test outlet-proof courier-proof kill-demo webhooks-negative mutants bench assets check fmt

demo:
	@scripts/need.sh go postgres
	go build -o bin/ ./cmd/waitctl
	@bin/waitctl demo $(ARGS) || { code=$$?; test $$code -eq 130 || exit $$code; } # 130: Ctrl-C

build:
	@scripts/need.sh go
	go build -o bin/ ./cmd/...

# Two packages at a time: each may run a Postgres of its own, and the figures
# that tests print are from a machine that is not overrun.
test:
	@scripts/need.sh go postgres redis nginx chromium node tools
	go vet ./...
	go test -p 2 -timeout 15m ./...

bench:
	@scripts/need.sh go postgres node tools
	go build -o bin/ ./cmd/bench
	@bin/bench

outlet-proof:
	@scripts/need.sh go postgres
	go build -o bin/ ./cmd/refunder ./cmd/payprov ./cmd/outletproof
	@bin/outletproof $(ARGS)

webhooks-negative:
	@scripts/need.sh go
	@go run ./cmd/webhooksproof

mutants:
	@scripts/need.sh go postgres node tools
	@go run ./cmd/mutants $(ARGS)

courier-proof:
	@scripts/need.sh go postgres
	go build -o bin/ ./cmd/courierproof
	@bin/courierproof $(ARGS)

# What is served is committed, so that nothing but this and its test needs node.
assets:
	@scripts/need.sh node tools
	@scripts/assets.sh web

kill-demo:
	@scripts/need.sh go postgres redis node tools
	go build -o bin/ ./cmd/...
	@bin/killdemo $(ARGS)

check:
	@scripts/need.sh go
	@unformatted=$$(go run $(GOFUMPT) -l $(GO_SOURCES)); test -z "$$unformatted" || { echo "make fmt would change: $$unformatted"; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...
	go test -count=1 ./internal/archtest
	go test -count=1 -run TestAssetsAreBuiltFromTheSource ./web

fmt:
	@scripts/need.sh go
	go run $(GOFUMPT) -w $(GO_SOURCES)
