package httpapi

// fiber v2 alone resolves to fasthttp 1.51, which splits requests (a length and
// chunks at once, two Hosts) and has an advisory against it. Naming it here
// keeps the newer one in go.mod.
import _ "github.com/valyala/fasthttp"
