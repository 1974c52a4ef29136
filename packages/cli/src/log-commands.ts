import { parseRfc3339 } from '@svc/kernel/time'
import type { LoggedRequest } from '@svc/sdk'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { explainRequest } from './explain-request.ts'
import { printJson } from './print.ts'
import { readCount } from './read-count.ts'
import { openProfile, type RemoteOptions, remote } from './remote.ts'

interface FilterOptions extends RemoteOptions {
  readonly status?: '2xx' | '4xx' | '5xx'
  readonly operation?: string
  readonly error?: string
}

interface ListOptions extends FilterOptions {
  readonly from?: string
  readonly to?: string
  readonly limit: number
}

interface TailOptions extends FilterOptions {
  readonly lines: number
}

const filtered = (command: Command): Command =>
  remote(command)
    .addOption(
      new Option('--status <class>', 'only this class of status').choices(['2xx', '4xx', '5xx'] as const),
    )
    .option('--operation <operationId>', 'only this operation, such as createQrCode')
    .option('--error <code>', 'only failures with this error code')

/** The request log as the tenant of a profile sees it. */
export function addLogCommands(program: Command): void {
  const logs = program
    .command('logs')
    .description('your own requests, as the server of a profile logged them')
  filtered(logs.command('list'))
    .description('list failures, writes and a sample of the successful reads, newest first')
    .option('--from <time>', 'received then or later, such as 2026-04-01T09:00:00+05:30', readTime)
    .option('--to <time>', 'received before then', readTime)
    .option('--limit <count>', 'how many', readCount, 50)
    .addHelpText('after', '\nExample:\n  svc logs list --status 4xx --limit 10')
    .action(list)
  filtered(logs.command('tail'))
    .description('print requests as they happen, each within seconds; one line each')
    .option('--lines <count>', 'how many earlier requests come first', readLines, 10)
    .addHelpText('after', '\nExamples:\n  svc logs tail\n  svc logs tail --status 5xx --lines 0 --json')
    .action(tail)
  remote(logs.command('explain'))
    .description('explain one request: what it was, why it failed, what to do, and whether to send it again')
    .argument('<requestId>', 'the x-request-id of its response, which is in every error')
    .addHelpText('after', '\nExample:\n  svc logs explain req_01m7yx5qqbnk0stdw6jb6ew8pz')
    .action(explainRequest)
}

function readTime(text: string): string {
  if (!parseRfc3339(text))
    throw new InvalidArgumentError('Give a time with a zone, such as 2026-04-01T09:00:00+05:30.')
  return text
}

function readLines(text: string): number {
  if (!/^(?:\d{1,2}|[1-4]\d{2}|500)$/.test(text))
    throw new InvalidArgumentError('Give a number from 0 to 500.')
  return Number(text)
}

const filterOf = ({ status, operation, error }: FilterOptions) => ({
  ...(status !== undefined && { status }),
  ...(operation !== undefined && { operation }),
  ...(error !== undefined && { error }),
})

async function list(options: ListOptions): Promise<void> {
  const { from, to, limit, json = false } = options
  const session = await openProfile(options)
  const found = session.client.requests.list({
    ...filterOf(options),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    limit: Math.min(limit, 500),
  })
  const requests = await session.reported('GET /api/v0/requests', found.take(limit))
  if (json) printJson(requests)
  else for (const request of requests) print(request, false)
}

async function tail(options: TailOptions): Promise<void> {
  const { lines, json = false } = options
  const session = await openProfile(options)
  // The server may restart meanwhile.
  const following = session.client.requests.follow({ ...filterOf(options), last: lines, maxRetries: 5 })
  try {
    for await (const request of following) print(request, json)
  } catch (error) {
    throw session.errorOf('GET /api/v0/requests', error)
  }
}

function print(request: LoggedRequest, json: boolean): void {
  const { receivedOn, status, method, path, durationMs, error = '', requestId } = request
  const line = json
    ? JSON.stringify(request)
    : [receivedOn, status, method, path, `${Math.round(durationMs)} ms`, error, requestId]
        .filter((part) => part !== '')
        .join('  ')
  process.stdout.write(`${line}\n`)
}
