import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { insertManyCards, manyCardId } from '../../../test/harness/many-cards.ts'
import type { Bed, BenchPartner } from '../bed.ts'
import { type Contender, contest, httpContender } from '../contest.ts'
import { requestBytes } from '../load.ts'
import { pgbenchContender, postgresProgram } from '../pgbench.ts'
import { residentMb } from '../server-process.ts'
import type { Measure, Setting } from './measure.ts'

const PATH = '/api/v0/partner/svcCard/search'
const STEP = 100_000

/** Accounts of many cards, made once and found again: numbers are counted over all of them. */
const accounts = new WeakMap<Bed, Map<number, Promise<LargeAccount>>>()
let inserted = 0

export interface LargeAccount {
  readonly partner: BenchPartner
  readonly first: number
  readonly count: number
}

export function accountOf({ bed, progress }: Setting, count: number): Promise<LargeAccount> {
  const known = accounts.get(bed) ?? new Map<number, Promise<LargeAccount>>()
  accounts.set(bed, known)
  const make = async () => {
    const partner = await bed.newPartner('employee_rewards', 1)
    const first = inserted + 1
    inserted += count
    const at = { ...partner, cardAccountId: partner.cardAccountIds[0]! }
    for (let from = first; from < first + count; from += STEP) {
      progress(`inserting cards: ${from - first} of ${count}`)
      await insertManyCards(bed.admin, at, from, Math.min(from + STEP, first + count) - 1)
    }
    // Only what was filled: the others are all but empty, and statements planned for that would read them whole for long.
    await bed.admin.query('vacuum analyze users, ledger_accounts, ledger_transfers, cards')
    await bed.admin.query('checkpoint')
    return { partner, first, count }
  }
  if (!known.has(count)) known.set(count, make())
  return known.get(count)!
}

const search = ({ partner }: LargeAccount, svcCardId?: string) =>
  requestBytes(
    'POST',
    PATH,
    { ...partner.headers, 'content-type': 'application/json' },
    JSON.stringify({ companyId: partner.companyId, cardAccountId: partner.cardAccountIds[0], svcCardId }),
  )

/** Searches of one card each, spread over the account. */
export function singleCards({ bed }: Setting, account: LargeAccount, name: string): Contender {
  return httpContender(name, [bed.service.pid, bed.postmasterPid], () => {
    const requests = Array.from({ length: 20_000 }, () =>
      search(account, manyCardId(account.first + Math.floor(Math.random() * account.count))),
    )
    return { port: bed.service.port, next: (n) => requests[n % requests.length] }
  })
}

const columns = `c.svc_card_id, c.user_id, c.card_account_id, c.expiry_month, c.expiry_year, c.holder->>'email',
  c.holder->>'mobile', c.holder->>'title', c.holder->>'firstName', c.holder->>'lastName', l.balance / 100.0, c.company_id`
const from = `cards c join ledger_accounts l on l.account_id = 'card' || chr(58) || c.svc_card_id and l.tenant_id = c.partner_id`

function singleSelect({ bed }: Setting, { partner, first, count }: LargeAccount): Contender {
  const where = `c.partner_id = '${partner.partnerId}' and c.card_account_id = '${partner.cardAccountIds[0]}'`
  // Behind row-level security only what is known before may lead into an index: the id is told to both tables.
  const card = `'card_' || lpad((:n::bigint)::text, 26, '0')`
  const sql = `\\set n random(${first}, ${first + count - 1})
begin;
select set_config('svc.tenants', '${partner.partnerId}', true);
select ${columns.replace(/\s+/g, ' ')} from ${from.replace('c.svc_card_id', card)} where ${where} and c.svc_card_id = ${card};
commit;
`
  return pgbenchContender('pgbench, the same select', bed, sql)
}

let peakMb = 0

/** Reads whole accounts, one after the other, and throws the bytes away; the end of the text is kept to see the count. */
function wholeAccount({ bed }: Setting, account: LargeAccount): Contender {
  const { partner, count } = account
  const read = () =>
    new Promise<void>((resolve, reject) => {
      const clientRequest = request(`${bed.service.baseUrl}${PATH}`, {
        method: 'POST',
        headers: { ...partner.headers, 'content-type': 'application/json' },
      })
      clientRequest.once('error', reject)
      clientRequest.once('response', (response) => {
        let tail = ''
        response.on('data', (chunk: Buffer) => {
          tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 64))).slice(-64)
        })
        response.once('error', reject)
        response.once('end', () => {
          const got = Number(/"recordsCount":(\d+)\}\}$/.exec(tail)?.[1])
          if (got === count) resolve()
          else reject(new Error(`${got} cards of ${count} came: ${tail}`))
        })
      })
      clientRequest.end(
        JSON.stringify({ companyId: partner.companyId, cardAccountId: partner.cardAccountIds[0] }),
      )
    })
  return {
    name: 'svc',
    unit: 'rows',
    pids: [bed.service.pid, bed.postmasterPid],
    isServer: true,
    async run() {
      const watch = setInterval(
        () => void residentMb(bed.service.pid).then((mb) => (peakMb = Math.max(peakMb, mb ?? 0))),
        20,
      )
      const startMs = performance.now()
      await read().finally(() => clearInterval(watch))
      return { done: count, seconds: (performance.now() - startMs) / 1_000 }
    },
  }
}

/** The same twelve fields by psql, to nowhere. */
function copied({ bed }: Setting, { partner, count }: LargeAccount): Contender {
  const query = `select ${columns} from ${from.replace(/chr\(58\)/g, "':'").replace("'card' || ':'", "'card:'")}
    where c.partner_id = '${partner.partnerId}' and c.card_account_id = '${partner.cardAccountIds[0]}' order by c.svc_card_id`
  const command = `\\copy (${query.replace(/\s+/g, ' ')}) to '/dev/null'`
  const args = ['-h', bed.host, '-p', String(bed.port), '-U', 'postgres', '-d', 'svc', '-q', '-c', command]
  const program = postgresProgram('psql')
  if (!program) throw new Error('There is no psql: install postgresql-client, or set PSQL.')
  return {
    name: 'psql copying the same rows out',
    unit: 'rows',
    pids: [bed.postmasterPid],
    async run() {
      const startMs = performance.now()
      const child = spawn(program, args, {
        env: { ...process.env, PGOPTIONS: '-c search_path=svc' },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
      if (code !== 0) throw new Error(`psql ended with ${code}`)
      return { done: count, seconds: (performance.now() - startMs) / 1_000 }
    },
  }
}

export const singleSearch: Measure = {
  id: 'single-search',
  title: 'Search one card of a large account',
  async run(setting) {
    const account = await accountOf(setting, setting.cards)
    const figures = await contest({
      ...setting,
      contenders: [singleCards(setting, account, 'svc'), singleSelect(setting, account)],
    })
    return { figures, comparisons: [{ of: 'svc', to: 'pgbench, the same select' }] }
  },
}

export const fullSearch: Measure = {
  id: 'full-search',
  title: 'Search all cards of a large account (streamed)',
  async run(setting) {
    const account = await accountOf(setting, setting.cards)
    const idleMb = await residentMb(setting.bed.service.pid)
    const figures = await contest({
      ...setting,
      callers: [1],
      rounds: Math.min(3, setting.rounds),
      contenders: [wholeAccount(setting, account), copied(setting, account)],
    })
    return {
      figures,
      comparisons: [{ of: 'svc', to: 'psql copying the same rows out', aim: 0.5 }],
      notes:
        idleMb === undefined
          ? []
          : [{ name: 'memory above idle while streaming', value: peakMb - idleMb, unit: 'MB', atMost: 128 }],
    }
  },
}
