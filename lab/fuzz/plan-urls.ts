import * as fc from 'fast-check'
import { hostileText, idNamed, valid } from './json-text.ts'
import type { Documented } from './operations.ts'

/** Percent-encoding that also accepts lone surrogates. */
const encode = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))

/** The same, except that a placeholder for an id stays as it is. */
export const encodeId = (text: string): string => (/^@[^@]+@$/.test(text) ? text : encode(text))

const PATH_TRICKS: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll('/', '//'),
  (path) => `/x/..${path}`,
  (path) => `/.${path}`,
  (path) => `${path}/`,
  (path) => `${path}/.`,
  (path) => `${path}/..`,
  (path) => `${path}%00`,
  (path) => `${path}%2f`,
  (path) => `${path};a=b`,
  (path) => path.replaceAll('/', '%2f').replace('%2f', '/'),
  (path) => path.replaceAll('/', '%252f').replace('%252f', '/'),
  (path) => path.toUpperCase(),
  (path) => path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replaceAll('/', '\\').replace('\\', '/'),
  (path) => path + '/a'.repeat(3_000),
  (path) => `${path}?${'a=b&'.repeat(3_000)}`,
  (path) => `${path}%c0%af`,
  (path) => `${path}%E0%A4%A`,
  (path) => `${path}\xff`,
]

export function pathOf({ path, parameters }: Documented): fc.Arbitrary<string> {
  const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  const piece = (name: string) =>
    fc.oneof({ weight: 8, arbitrary: idNamed(name) }, { weight: 1, arbitrary: hostileText.map(encode) })
  return fc.tuple(...names.map(piece)).chain((pieces) => {
    const filled = names.reduce((text, name, i) => text.replace(`{${name}}`, () => pieces[i]!), path)
    return fc.oneof(
      { weight: 30, arbitrary: fc.constant(filled) },
      { weight: 1, arbitrary: fc.constantFrom(...PATH_TRICKS).map((trick) => trick(filled)) },
    )
  })
}

export function queryOf({ parameters }: Documented): fc.Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === 'query')
  const unquoted = (text: string) =>
    text.startsWith('"') ? (JSON.parse(Buffer.from(text, 'latin1').toString()) as string) : text
  const good = fc.tuple(
    ...known.map(({ name, schema }) =>
      fc
        .tuple(fc.boolean(), valid(schema, name))
        .map(([there, text]) => (there ? [`${name}=${encodeId(unquoted(text))}`] : [])),
    ),
  )
  const bad = fc
    .tuple(
      fc.constantFrom('x', '__proto__', 'limit', 'after', 'a[b]', 'a[]', ...known.map(({ name }) => name)),
      hostileText,
    )
    .map(([name, text]) => `${encode(name)}=${encode(text)}`)
  return fc
    .tuple(
      good,
      fc.oneof(
        { weight: 4, arbitrary: fc.constant([]) },
        { weight: known.length > 0 ? 4 : 1, arbitrary: fc.array(bad, { maxLength: 2 }) },
      ),
    )
    .map(([right, wrong]) => [...right.flat(), ...wrong].join('&'))
}
