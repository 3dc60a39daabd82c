// Package webtest holds the pages to their promises: a real browser against
// every process of a real sale. It is tests alone.
package webtest
