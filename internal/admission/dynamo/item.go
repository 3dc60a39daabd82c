package dynamo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"waitroom/internal/admission"
)

// The table's items. Names avoid DynamoDB's reserved words, so that the
// expressions can say them. The tail has an item of its own: joins do not
// contend with the door. Places have a partition key each: they spread.
//
//	pk                 sk         attributes
//	door#<event>       door       epoch lease term beat front credit budget taken stopped step_at doc
//	tail#<event>       tail       epoch tail lobby seed beacon
//	place#<holder>     <event>    epoch place life joined take taken_at pass_until
//	code#<event>#<code>#<shard>  <slot>   epoch used_by
//	code#<event>#<code>          used-up  epoch up_to
//	use#<event>#<code>#<holder>  slot     epoch tried
//	report#<event>     <replica>  report
//
// Times are milliseconds since 1970, 0 for none.
type item map[string]types.AttributeValue

func key(pk, sk string) item         { return item{"pk": text(pk), "sk": text(sk)} }
func doorKey(event string) item      { return key("door#"+event, "door") }
func tailKey(event string) item      { return key("tail#"+event, "tail") }
func reportKey(e, r string) item     { return key("report#"+e, r) }
func placeKey(e, holder string) item { return key("place#"+holder, e) }

func text(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func yes(v bool) types.AttributeValue    { return &types.AttributeValueMemberBOOL{Value: v} }
func bin(v []byte) types.AttributeValue  { return &types.AttributeValueMemberB{Value: v} }
func num(v int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
}

func ms(t time.Time) types.AttributeValue {
	if t.IsZero() {
		return num(0)
	}
	return num(t.UnixMilli())
}

// reader keeps the first fault: what is missing in an item is a fault, never a
// zero.
type reader struct {
	item
	err error
}

func (r *reader) fault(name string, v any) {
	if r.err == nil {
		r.err = fmt.Errorf("item with a bad %s: %T", name, v)
	}
}

func (r *reader) text(name string) string {
	v, ok := r.item[name].(*types.AttributeValueMemberS)
	if !ok {
		r.fault(name, r.item[name])
		return ""
	}
	return v.Value
}

func (r *reader) num(name string) int64 {
	v, ok := r.item[name].(*types.AttributeValueMemberN)
	if !ok {
		r.fault(name, r.item[name])
		return 0
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		r.fault(name, v.Value)
	}
	return n
}

func (r *reader) yes(name string) bool {
	v, ok := r.item[name].(*types.AttributeValueMemberBOOL)
	if !ok {
		r.fault(name, r.item[name])
		return false
	}
	return v.Value
}

func (r *reader) bin(name string) []byte {
	v, ok := r.item[name].(*types.AttributeValueMemberB)
	if !ok {
		r.fault(name, r.item[name])
		return nil
	}
	return v.Value
}

func (r *reader) ms(name string) time.Time {
	n := r.num(name)
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

func doorItem(d admission.Door) item {
	it := doorKey(d.Event)
	it["epoch"], it["lease"], it["term"], it["beat"] = num(d.Epoch), text(d.Owner), num(d.Term), num(d.Beat)
	it["front"], it["credit"], it["budget"], it["taken"] = num(d.Front), num(d.Credit), num(d.Budget), num(d.Taken)
	it["stopped"], it["step_at"] = yes(d.Stopped), ms(d.At)
	if d.Doc != nil {
		it["doc"] = bin(d.Doc)
	}
	return it
}

func toDoor(event string, it item) (admission.Door, error) {
	r := reader{item: it}
	d := admission.Door{
		Event: event, Epoch: r.num("epoch"),
		Owner: r.text("lease"), Term: r.num("term"), Beat: r.num("beat"),
		Front: r.num("front"), Credit: r.num("credit"), Budget: r.num("budget"), Taken: r.num("taken"),
		Stopped: r.yes("stopped"),
	}
	if _, written := it["doc"]; written {
		d.Doc = r.bin("doc")
	}
	if _, written := it["step_at"]; written { // a line of an older version has none until the next step
		d.At = r.ms("step_at")
	}
	if r.err != nil {
		return admission.Door{}, fmt.Errorf("door of %s: %w", event, r.err)
	}
	return d, nil
}

func placeItem(p admission.Place) item {
	it := placeKey(p.Event, p.Holder)
	it["epoch"], it["place"], it["life"], it["joined"] = num(p.Epoch), num(p.Index), text(string(p.State)), ms(p.JoinedAt)
	it["take"], it["taken_at"], it["pass_until"] = num(p.Take), ms(p.TakenAt), ms(p.PassUntil)
	return it
}

func toPlace(it item) (admission.Place, error) {
	r := reader{item: it}
	p := admission.Place{
		Event: r.text("sk"), Epoch: r.num("epoch"), Index: r.num("place"),
		State: admission.State(r.text("life")), JoinedAt: r.ms("joined"),
		Take: r.num("take"), TakenAt: r.ms("taken_at"), PassUntil: r.ms("pass_until"),
	}
	pk := r.text("pk")
	if r.err != nil {
		return admission.Place{}, fmt.Errorf("place %s: %w", pk, r.err)
	}
	p.Holder = pk[len("place#"):]
	return p, nil
}
