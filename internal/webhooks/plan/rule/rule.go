// Package rule holds the judgements of the plan, each alone in its file, and
// beside each what it was when it was wrong.
//
// A judgement is built unless the tag of its mutant is set; then the mutant is
// built in its place, and everything else stays as it is. So each fault that the
// audit is to catch can be put into a program for a run, and no word of it is in
// one that is shipped. internal/webhooks/negative does that, one by one.
package rule
