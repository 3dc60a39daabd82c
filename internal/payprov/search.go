package payprov

import (
	"net/http"
	"regexp"
)

// byMetadata is the one question of the provider's search language that this
// stand-in understands.
var byMetadata = regexp.MustCompile(`^metadata\[['"]([^'"]+)['"]\]:['"]([^'"]+)['"]$`)

// searchIntents finds what was created a moment ago too; the provider's own search
// lags by up to a minute.
func (p *Provider) searchIntents(r *http.Request) answer {
	if bad := onlyKnown(r, "query", "limit"); bad != nil {
		return *bad
	}
	asked := byMetadata.FindStringSubmatch(r.Form.Get("query"))
	if asked == nil {
		return invalid(http.StatusBadRequest, "", "query", "This stand-in searches by metadata['key']:'value' alone.")
	}
	found := wireList[*wireIntent]{Object: "search_result", URL: "/v1/payment_intents/search", Data: []*wireIntent{}}
	for _, in := range p.book.intents {
		if in.metadata[asked[1]] == asked[2] {
			found.Data = append(found.Data, in.wire())
		}
	}
	return ok(found)
}
