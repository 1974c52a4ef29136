import { STATUS_CODES } from 'node:http'
import { SvcError, UnexpectedResponseError } from '@svc/sdk'
import { type Command, InvalidArgumentError } from 'commander'
import { parseJsonText, readText } from './read-text.ts'
import { openProfile, type RemoteOptions, remote } from './remote.ts'
import type { ApiPath } from './tenant-session.ts'
import { RemoteError, UsageError } from './usage-error.ts'

interface ApiOptions extends RemoteOptions {
  readonly data?: string
  readonly header: readonly (readonly [name: string, value: string])[]
  readonly include?: boolean
}

const METHODS = ['get', 'post', 'patch', 'delete'] as const
type Method = (typeof METHODS)[number]

/** Right after the start of a sandbox, the demo tenant that such a path is for sends the request. */
const OF_PARTNERS = /^\/api\/v0\/(?:partner|svc-coins)\b/

/** Headers that come from the profile. */
const SIGNED_IN = new Set(['authorization', 'cookie', 'partnerid'])

function readHeader(text: string, before: ApiOptions['header'] = []): ApiOptions['header'] {
  const colon = text.indexOf(':')
  const name = text.slice(0, colon).trim().toLowerCase()
  if (colon < 1 || !/^[\w-]+$/.test(name)) throw new InvalidArgumentError('Give it as "name: value".')
  if (SIGNED_IN.has(name)) throw new InvalidArgumentError(`The profile gives ${name}.`)
  return [...before, [name, text.slice(colon + 1).trim()]]
}

export function addApiCommands(program: Command): void {
  const api = program.command('api').description('send any request, signed in as the tenant of a profile')
  for (const method of METHODS) {
    const command = remote(api.command(`${method} <path>`))
      .description(
        `send ${method.toUpperCase()} and print the body of the response; exit code 1 for a failure`,
      )
      .option('--header <header>', 'one more header, as "name: value"; may be repeated', readHeader, [])
      .option('--include', 'print status and headers first')
    if (method !== 'get')
      command.option('--data <body>', 'the body: JSON or a compact JWE, @file, or - for standard input')
    command
      .addHelpText('after', `\nExample:\n  svc api ${EXAMPLES[method]}`)
      .action((path: string, options: ApiOptions) => callApi(method, path, options))
  }
}

const EXAMPLES: Readonly<Record<Method, string>> = {
  get: `get '/api/v0/payments?limit=2'`,
  post: `post /api/v0/qr-code --data '{"qrName":"Counter 1"}' --header 'idempotency-key: 42'`,
  patch: `patch /api/v0/qr-code/qr_…/cancel --data '{}'`,
  delete: 'delete /api/v0/webhook-endpoints/whe_…',
}

async function callApi(method: Method, path: string, options: ApiOptions): Promise<void> {
  if (!isPath(path)) throw new UsageError('The path must begin with one /, such as /api/v0/payments')
  const given = Object.fromEntries(options.header)['content-type']
  const body = options.data === undefined ? undefined : await readBody(options.data, given)
  const headers = {
    ...(body !== undefined && { 'content-type': body.mediaType }),
    ...Object.fromEntries(options.header),
  }
  const session = await openProfile(options, undefined, OF_PARTNERS.test(path) ? 'partner' : 'merchant')
  const sent = { method: method.toUpperCase(), headers, ...(body !== undefined && { body: body.text }) }
  try {
    const response = await session.fetch(path, sent)
    if (options.include) process.stdout.write(headOf(response))
    process.stdout.write(shown(await response.text()))
  } catch (error) {
    const failure = error instanceof RemoteError ? error.cause : undefined
    if (failure instanceof SvcError || failure instanceof UnexpectedResponseError) {
      if (options.include) process.stdout.write(headOf(failure))
      if (!options.json) process.stdout.write(shown(failure.body))
    }
    throw error
  }
}

const isPath = (path: string): path is ApiPath => /^\/(?!\/)/.test(path)

/** Five parts in base64url (RFC 7516 section 7.1): an encrypted order. */
const COMPACT_JWE = /^\s*[\w-]+(?:\.[\w-]*){4}\s*$/

/** A body with the media type that it is sent as; `given` is that of `--header`. */
async function readBody(
  data: string,
  given: string | undefined,
): Promise<{ readonly text: string; readonly mediaType: string }> {
  const text =
    data === '-' || data.startsWith('@') ? await readText(data.replace(/^@/, ''), 'the body') : data
  if (COMPACT_JWE.test(text)) {
    // As a JSON string where the caller wants JSON: the service accepts both.
    const isJson = given !== undefined && /json/i.test(given)
    return { text: isJson ? JSON.stringify(text.trim()) : text.trim(), mediaType: 'application/jose' }
  }
  if (given === undefined || /json$/i.test(given))
    parseJsonText(text, 'the body as JSON, or as a compact JWE')
  return { text, mediaType: 'application/json' }
}

/** Cookies sign in, so they are not printed. */
function headOf({ status, headers }: Pick<Response, 'status' | 'headers'>): string {
  const lines = [...headers]
    .filter(([name]) => name !== 'set-cookie')
    .map(([name, value]) => `${name}: ${value}`)
  return `${[`${status} ${STATUS_CODES[status] ?? ''}`, ...lines].join('\n')}\n\n`
}

function shown(text: string): string {
  if (text === '') return ''
  try {
    return `${JSON.stringify(JSON.parse(text), null, 2)}\n`
  } catch {
    return text.endsWith('\n') ? text : `${text}\n`
  }
}
