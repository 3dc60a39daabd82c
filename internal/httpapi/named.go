package httpapi

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

var (
	readsJSON = reflect.TypeFor[json.Unmarshaler]()
	readsText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// misnamed is a member of a value that was decoded into this type, whose name is one
// of the type's but for the case of its letters: encoding/json takes it, where the
// contract knows no such member, and what checks the contract on the way would
// see another body than we do.
func misnamed(text []byte, into reflect.Type) string {
	if into.Kind() == reflect.Pointer {
		return misnamed(text, into.Elem())
	}
	if p := reflect.PointerTo(into); p.Implements(readsJSON) || p.Implements(readsText) {
		return ""
	}
	switch into.Kind() {
	case reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil {
			return ""
		}
		known := membersOf(into)
		for name, value := range members {
			of, ok := known[name]
			if !ok {
				return name
			}
			if wrong := misnamed(value, of); wrong != "" {
				return wrong
			}
		}
	case reflect.Map:
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil {
			return ""
		}
		for _, value := range members {
			if wrong := misnamed(value, into.Elem()); wrong != "" {
				return wrong
			}
		}
	case reflect.Slice, reflect.Array:
		var items []json.RawMessage
		if json.Unmarshal(text, &items) != nil { // null, or bytes as text
			return ""
		}
		for _, item := range items {
			if wrong := misnamed(item, into.Elem()); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

// membersOf is what encoding/json decodes into a struct, by the names as they stand.
func membersOf(t reflect.Type) map[string]reflect.Type {
	known := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" && (!f.Anonymous || name != "") {
			known[cmp.Or(name, f.Name)] = f.Type
		}
	}
	return known
}
