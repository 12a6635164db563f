#!/bin/sh
# Runs a task from a terminal with a POSIX shell and curl: starts it, tells what happens through lost connections and
# restarts of the server, and asks you what the task asks. JSON is read by grep and sed, or by jq where there is one.
#
#   sh examples/terminal/run-task.sh trip-planner '{"city": "Lisbon"}'
#   sh examples/terminal/run-task.sh --follow task_…                    goes on with one that was begun before
#
# HOLDFAST_URL names another server than http://127.0.0.1:4747. Ends with 0 when the task has completed, with 1 when it
# has failed or was cancelled, and with 2 when the server refuses what is asked of it.
set -uf
export LC_ALL=C # Texts are bytes here, and go through as they came.

url=${HOLDFAST_URL:-http://127.0.0.1:4747}
url=${url%/}
tab=$(printf '\t')
mark=$(printf '\001')
c1_controls=$(printf '\302[\200-\237]')

# --- JSON

# Prints each scalar of the JSON on standard input with its path: `items.0.prompt<tab>"Which month?"`.
flatten() {
  if command -v jq >/dev/null; then
    jq -r 'paths(type != "object" and type != "array") as $path |
      "\($path | map(tostring) | join("."))\t\(getpath($path) | tojson)"' 2>/dev/null
    return
  fi
  path='' kinds='' is_key=''
  grep -Eo '"([^"\\]|\\.)*"|[][{}:,]|[^][{}:," ]+' | while IFS= read -r token; do
    case $token in
      '{') path="$path." kinds="{$kinds" is_key=1 ;;
      '[') path="$path.0" kinds="[$kinds" is_key='' ;;
      '}' | ']') path=${path%.*} kinds=${kinds#?} is_key='' ;;
      :) is_key='' ;;
      ,)
        case $kinds in
          '{'*) is_key=1 ;;
          *) path="${path%.*}.$((${path##*.} + 1))" ;;
        esac
        ;;
      *)
        if [ -z "$is_key" ]; then
          printf '%s\t%s\n' "${path#.}" "$token"
        else
          key=${token#?}
          case $key in *.*) key='??' ;; esac # No key that is looked for has a dot.
          path="${path%.*}.${key%?}"
        fi
        ;;
    esac
  done
}

# Prints the scalar at a path of what was read last, as JSON; nothing where there is none.
value() {
  printf '%s\n' "$scalars" | sed -n "s/^$1$tab//p"
}

# The same as text.
text() {
  value "$1" | sed -e 's/^"//' -e 's/"$//' -e "s/\\\\\\\\/$mark/g" -e 's/\\n/\
           /g' -e 's/\\t/ /g' -e 's/\\[bfr]//g' -e 's/\\u[0-9A-Fa-f]\{4\}//g' -e 's/\\//g' -e "s/$mark/\\\\/g" | plain
}

# Drops what would steer the terminal: whoever wrote a text does not decide where it is shown.
plain() {
  tr '\t' ' ' | tr -d '\000-\011\013-\037\177' | sed "s/$c1_controls//g"
}

# Prints a line that somebody has typed as a JSON string.
quote() {
  printf '"%s"' "$(printf '%s\n' "$1" | sed -e 's/[\\"]/\\&/g' -e "s/$tab/\\\\t/g" | tr -d '\000-\037\177')"
}

# Prints a line of what happens: `line <word> <text>`.
line() {
  printf '%-10s %s\n' "$1" "$2"
}

# --- Requests

# Sends until there is a definite answer, however long that takes: `request <path> [<body>]`. A body goes under a key, so
# that it takes effect once. Leaves the status in $code, and what is in the answer for `value` and `text`.
request() {
  if [ $# -eq 1 ]; then
    set -- "$url$1"
  else
    key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    set -- "$url$1" -H 'Content-Type: application/json' -H "Idempotency-Key: $key" --data-raw "$2"
  fi
  is_told=''
  until code=$(curl -s -m 60 -o "$work/answer" -w '%{http_code}' "$@") && is_definite; do
    [ -n "$is_told" ] || line trying 'the server cannot be reached, or is busy; it is tried until it answers'
    is_told=1
    sleep 2
  done
  scalars=$(flatten <"$work/answer")
}

is_definite() {
  case $code in
    2??) grep -q '^{' "$work/answer" ;; # A captive portal says 200 too.
    408 | 429 | 502 | 503 | 504) return 1 ;;
    409) ! grep -q '"code":"idempotency_in_progress"' "$work/answer" ;;
  esac
}

# Prints what the server has against a request.
refusal() {
  line refused "$(text detail | grep . || echo "The answer was $code.")"
  n=0
  while [ -n "$(value "errors.$n.message")" ]; do
    line '' "$(text "errors.$n.path") $(text "errors.$n.message")"
    n=$((n + 1))
  done
}

# --- Questions

# Asks for all items of a question, until the server takes the answers or the question is closed otherwise.
ask() {
  while request "/v1/questions/$1" && [ "$(text status)" = pending ]; do
    answers='' item=0
    while [ -n "$(value "items.$item.id")" ]; do
      if ! ask_item "items.$item"; then
        printf '\n'
        line unanswered 'nobody is here any more; it can be answered elsewhere until it expires'
        return
      fi
      [ -z "$answer" ] || answers="$answers${answers:+,}$(value "items.$item.id"):$answer"
      item=$((item + 1))
    done
    request "/v1/questions/$1/answers" "{\"answers\":{$answers}}"
    [ "$code" != 200 ] || return
    refusal
  done
}

# Leaves the answer to an item as JSON in $answer, empty where none is needed. Fails when nobody types any more.
ask_item() {
  line asks "$(text "$1.prompt")"
  n=0
  while [ -n "$(value "$1.options.$n.value")" ]; do
    printf '%13s. %s  %s\n' $((n + 1)) "$(text "$1.options.$n.label")" "$(text "$1.options.$n.description")"
    n=$((n + 1))
  done
  case $(text "$1.type").$(value "$1.multiple") in
    choice.true) hint='numbers, with commas' ;;
    choice.*) hint='a number' ;;
    boolean.*) hint='y or n' ;;
    number.*) hint='a number' ;;
    *) hint='a line' ;;
  esac
  [ "$(value "$1.allowOther")" != true ] || hint="$hint, or your own words"
  [ "$(value "$1.required")" = true ] || hint="$hint, or nothing"
  while :; do
    printf 'answer     (%s)> ' "$hint"
    IFS= read -r typed <&3 || [ -n "$typed" ] || return 1
    [ -t 3 ] || printf '%s\n' "$typed"
    answer=''
    if [ -n "$typed" ]; then
      read_answer "$1"
      [ -z "$answer" ] || return 0
    elif [ "$(value "$1.required")" != true ]; then
      return 0
    fi
  done
}

# What was typed, as JSON in $answer; empty when it does not fit.
read_answer() {
  case $(text "$1.type").$(value "$1.multiple") in
    choice.true)
      rest=$IFS IFS=,
      for each in $typed; do
        IFS=$rest
        picked=$(pick "$1" "$(echo "$each" | sed -e 's/^ *//' -e 's/ *$//')")
        [ -n "$picked" ] || { answer='' && return; }
        answer="$answer${answer:+,}$picked"
      done
      IFS=$rest
      answer="[$answer]"
      ;;
    choice.*) answer=$(pick "$1" "$typed") ;;
    boolean.*)
      case $typed in
        [Yy]*) answer=true ;;
        [Nn]*) answer=false ;;
      esac
      ;;
    number.*) answer=$(printf '%s\n' "$typed" | grep -Ex ' *-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)? *') ;;
    *) answer=$(quote "$typed") ;;
  esac
}

# Prints the value of the option with this number, or where that is allowed what was typed instead.
pick() {
  case $2 in
    [1-9] | [1-9][0-9]) value "$1.options.$(($2 - 1)).value" | grep . && return ;;
  esac
  [ "$(value "$1.allowOther")" != true ] || quote "$2"
}

# --- Events

# Reads a stream. What was cut off within a block was not told: it comes again. Fails unless the stream is finished for good.
tell() {
  event='' data='' id=''
  while IFS= read -r row; do
    case $row in
      'event: '*) event=${row#*: } ;;
      'data: '*) data=${row#*: } ;;
      'id: '*) id=${row#*: } ;;
      'retry: '*) echo "$(((${row#*: } + 999) / 1000))" >"$work/pause" ;;
      '')
        show
        [ -z "$id" ] || echo "$id" >"$work/last"
        [ "$event" != end ] || return 0
        event='' data='' id=''
        ;;
    esac
  done
  return 1
}

show() {
  case $event in
    message.completed | question.* | task.progress | task.retrying | step.failed | tool.called)
      scalars=$(printf '%s\n' "$data" | flatten)
      ;;
  esac
  case $event in
    message.completed) line "$(text data.message.role)" "$(text data.message.content)" ;;
    question.asked) ask "$(text data.question.id)" ;;
    question.answered) line answered "$(printf '%s\n' "$scalars" | sed -n 's/^data\.answers\.//p' | plain | sed '2,$s/^/           /')" ;;
    question.*) line "${event#*.}" "the question${tab}$(text data.reason)" ;;
    task.progress) line progress "$(text data.fraction) $(text data.note)" ;;
    task.recovered) line recovered 'what ran it was lost; it goes on from its journal' ;;
    task.retrying) line retrying "at $(text data.retryAt), since this attempt failed: $(text data.error.message)" ;;
    step.failed) line failed "$(text data.name): $(text data.error.message)" ;;
    tool.called) line calls "$(text data.name)" ;;
    reset) line reset 'the server no longer has all of what happened; this goes on with what it has' ;;
    task.* | step.* | tool.* | message.* | conversation.*) ;;
    *.*) line event "$event" ;;
  esac
}

# Follows the task to its end. No connection is kept for more than a minute: one that is dead says nothing of it.
follow() {
  : >"$work/last"
  echo 2 >"$work/pause"
  until {
    : >"$work/headers"
    # A header without a value is not sent.
    curl -sN -m 60 -D "$work/headers" -H "Last-Event-ID: $(cat "$work/last")" "$url/v1/tasks/$task/events?event=type"
    echo $? >"$work/curl"
  } | tell; do
    code=$(sed -n 's/^HTTP[^ ]* \([0-9]*\).*/\1/p' "$work/headers" | tail -n 1)
    case $code.$(cat "$work/curl") in
      204.* | 40[0-7].* | 41?.*) return ;;
      200.28) ;;
      200.*) line lost 'the connection; it is taken up where it broke off' && sleep "$(cat "$work/pause")" ;;
      *) sleep "$(cat "$work/pause")" ;;
    esac
  done
}

# --- The run

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
exec 3<&0 # In a pipe standard input is the pipe's; the person is here.

case ${1:-} in
  '')
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
  --follow) task=${2:?the id of a task} ;;
  *)
    input=${2:-}
    request /v1/tasks "{\"agent\":$(quote "$1")${input:+,\"input\":$input}}"
    task=$(text id)
    ;;
esac
if [ -z "$task" ]; then
  refusal
  exit 2
fi
trap 'printf "\nIt goes on without you. Come back with: sh %s --follow %s\n" "$0" "$task" && exit 130' INT
line task "$task"
follow

request "/v1/tasks/$task"
if [ "$code" != 200 ]; then
  refusal
  exit 2
fi
status=$(text status)
case $status in
  completed)
    line completed ''
    printf '%s\n' "$scalars" | sed -n "s/^output\.*\([^$tab]*\)$tab/           \1 /p" | plain
    ;;
  *)
    line "$status" "$(text error.code) $(text error.message)"
    exit 1
    ;;
esac
