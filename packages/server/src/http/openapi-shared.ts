import { type Json, refTo } from './openapi-schemas.ts'

interface Failure {
  readonly description: string
  readonly content?: Readonly<
    Record<string, { readonly schema: { readonly $ref?: string }; examples?: Json }>
  >
}
type Responses = Record<string, Failure | Json>
type Paths = Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>

const withoutExamples = (response: Failure): string =>
  JSON.stringify(response, (key, value: unknown) => (key === 'examples' ? undefined : value))

/**
 * Moves failures that several operations return alike to the components: most of the document would be repetitions of
 * them. Of each error code the shared one shows the first example.
 */
export function shareFailures(paths: Paths): Json {
  const groups = new Map<string, { readonly status: string; readonly of: Responses[] }>()
  for (const methods of Object.values(paths))
    for (const { responses } of Object.values(methods))
      for (const [status, response] of Object.entries(responses)) {
        if (Number(status) < 400) continue
        const key = `${status} ${withoutExamples(response as Failure)}`
        const group = groups.get(key) ?? { status, of: [] }
        groups.set(key, group)
        group.of.push(responses)
      }
  const shared: Json = {}
  for (const { status, of } of groups.values()) {
    if (of.length === 1) continue
    const all = of.map((responses) => responses[status] as Failure)
    const name = freeName(shared, nameOf(all[0]!, status))
    shared[name] = withExamplesOfAll(all)
    for (const responses of of) responses[status] = refTo('responses', name)
  }
  return Object.fromEntries(Object.entries(shared).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function withExamplesOfAll(all: readonly Failure[]): Failure {
  const [first] = all
  for (const [mediaType, content] of Object.entries(first!.content ?? {})) {
    const examples = Object.assign(
      {},
      ...all.map((each) => each.content?.[mediaType]?.examples).toReversed(),
    ) as Json
    if (Object.keys(examples).length > 0) content.examples = examples
  }
  return first!
}

/** By its only error code, such as `InternalError`, else by its status; and by its envelope. */
function nameOf({ description, content = {} }: Failure, status: string): string {
  const codes = [...description.matchAll(/^`(\w+)`/gm)].map(([, code]) => code!)
  const what =
    codes.length === 1
      ? codes[0]!.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
      : `Failure${status}`
  const schema = Object.values(content)[0]?.schema.$ref ?? ''
  const envelope = /\/(?:Failure)?(\w*)$/.exec(schema)?.[1] ?? ''
  return `${what}${envelope}`
}

function freeName(taken: Json, name: string): string {
  let free = name
  for (let n = 2; free in taken; n++) free = `${name}_${n}`
  return free
}
