package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"sync"

	"github.com/gofiber/fiber/v2"

	"waitroom/api"
)

// docsCache: what is described changes with the program.
const docsCache = "public, max-age=300"

// docs are pages for whoever writes a client: the contract, and a page for each
// problem at the address that is its type.
func (p *pages) docs(app *fiber.App) {
	read := sync.OnceValues(api.Read)
	app.Get("/docs", func(c *fiber.Ctx) error {
		contract, err := read()
		if err != nil {
			return err
		}
		defer squeeze(c)
		return p.show(c, "docs.html", struct {
			frame
			Contract api.Contract
		}{frame{Title: "API – Waitroom", Heading: "API"}, contract}, docsCache)
	})
	app.Get("/docs/openapi.yaml", func(c *fiber.Ctx) error {
		text, err := api.File()
		if err != nil {
			return err
		}
		c.Set("Content-Type", "application/yaml")
		c.Set("Cache-Control", docsCache)
		return c.Send(text)
	})
	app.Get("/problems", p.problems)
	app.Get("/problems/:code", p.problem)
}

type problemRow struct {
	Code, Says, Name string // Name: of the status
	Status           int
	Retried          bool // it says when to try again
	help
}

func problemRowOf(code string) problemRow {
	is := problems[code]
	return problemRow{code, is.title, http.StatusText(is.status), is.status, is.status == 503 || is.status == 429, helps[code]}
}

func (p *pages) problems(c *fiber.Ctx) error {
	var all []problemRow
	for code := range problems {
		all = append(all, problemRowOf(code))
	}
	slices.SortFunc(all, func(x, y problemRow) int { return cmp.Or(cmp.Compare(x.Status, y.Status), cmp.Compare(x.Code, y.Code)) })
	return p.show(c, "problems.html", struct {
		frame
		Problems []problemRow
	}{frame{Title: "Problems – Waitroom API", Heading: "Problems"}, all}, docsCache)
}

func (p *pages) problem(c *fiber.Ctx) error {
	code := c.Params("code")
	if _, known := problems[code]; !known {
		return problem("no_such_route", "There is no problem of that name.")
	}
	row := problemRowOf(code)
	return p.show(c, "problemtype.html", struct {
		frame
		problemRow
	}{frame{Title: code + " – Waitroom API", Heading: row.Says}, row}, docsCache)
}
