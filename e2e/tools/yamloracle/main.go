// Command yamloracle answers what Kubernetes' own reader makes of YAML documents.
//
// Standard input holds documents, each after its length in bytes (four bytes, big endian). Standard
// output gets one line of JSON for each: {"json": …}, or {"error": "…"} if the reader refuses it.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/yaml"
)

type answer struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Error string          `json:"error,omitempty"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "yamloracle:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	reader := bufio.NewReader(in)
	writer := bufio.NewWriter(out)
	encoder := json.NewEncoder(writer)
	for {
		var length uint32
		if err := binary.Read(reader, binary.BigEndian, &length); errors.Is(err, io.EOF) {
			return writer.Flush()
		} else if err != nil {
			return err
		}
		document := make([]byte, length)
		if _, err := io.ReadFull(reader, document); err != nil {
			return err
		}
		if err := encoder.Encode(read(document)); err != nil {
			return err
		}
	}
}

func read(document []byte) (result answer) {
	// The reader is said to give errors only; a panic must not end the answers to the others.
	defer func() {
		if problem := recover(); problem != nil {
			result = answer{Error: fmt.Sprint("panic: ", problem)}
		}
	}()
	converted, err := yaml.YAMLToJSON(document)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{JSON: converted}
}
