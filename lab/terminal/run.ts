import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { encrypt } from '@svc/jwe/jwe'
import { type Bed, makeBed } from '../chaos/bed.ts'
import { Attempts, Balancer, Caller, type Intent, type Login } from '../chaos/caller.ts'
import { partnerLogin } from '../chaos/load.ts'
import { Chance } from '../simulation/chance.ts'
import { compareBooks, compareStatement, type Statement } from './books.ts'
import { each, Play, type PlayedCard, type Send } from './play.ts'
import { newCard, RULES } from './reckoning.ts'
import { References, scriptOf } from './script.ts'

export interface Plan {
  readonly messages: number
  readonly cards: number
  readonly callers: number
  readonly processes: number
  readonly kills: number
  readonly databaseKills: number
  /** Of the scripts and of the order of kills; instants differ from run to run all the same. */
  readonly seed: number
}

export interface Report {
  readonly seed: number
  readonly messages: number
  readonly cards: number
  /** Messages that arrived, repeats included, and steps in which several arrived at once. */
  readonly sent: number
  readonly atOnce: number
  readonly repeats: number
  /** Messages that cannot be read or say that they did not happen. */
  readonly odd: number
  readonly byStatus: Readonly<Record<string, number>>
  /** Loads and unloads that were made, and those that were refused. */
  readonly moves: number
  readonly refusedMoves: number
  /** Statements of cards that are as the messages alone say. */
  readonly statements: number
  readonly kills: number
  readonly databaseKills: number
  /** Attempts without a definite response. */
  readonly retried: number
  readonly lost: number
  readonly doubled: number
  /** Seconds of the play, without the repeats at its end. */
  readonly seconds: number
  /** All that is wrong, in words; empty when the run is passed. */
  readonly broken: readonly string[]
}

const OVER_CAPTURE_PERCENT = 20
/** Small enough that no limit of a card matters: the balance does. */
const LOAD_MIN_RUPEES = 300
const LOAD_MAX_RUPEES = 900
const CARDS_PATH = '/api/v0/partner/svcCard'

/** Plays messages of a card network on an installation in live mode while its processes are killed; then compares. */
export async function runTerminal(plan: Plan, say: (line: string) => void): Promise<Report> {
  const railKey = randomBytes(24).toString('hex')
  const settings = {
    CARD_RAIL_KEYS: railKey,
    CARD_OVER_CAPTURE_PERCENT: String(OVER_CAPTURE_PERCENT),
    CARD_LOAD_LIMITS: 'default=10000/100000/100000/100000',
  }
  const bed = await makeBed({ processes: plan.processes, groups: 1, settings, webhooks: false })
  const attempts = new Attempts()
  const balancer = new Balancer(bed.members, plan.callers * 2)
  const caller = new Caller(balancer, attempts)
  try {
    const login = partnerLogin(bed.partner)
    const firstDay = new Date(Date.now() + ZONE_AHEAD_MS).toISOString().slice(0, 10)
    const holder = { ...bed.partner, cardAccountId: await openAccount(bed, caller, login) }
    const cards = await issue(holder, caller, login, plan)
    say(`seed ${plan.seed}: ${cards.length} cards, ${plan.messages} messages`)
    let responses = 0
    const sendWith =
      (proof: Pick<Intent, 'as' | 'railKey'>): Send =>
      (path, body) =>
        caller.send({ method: 'POST', path, body, ...proof }).finally(() => responses++)
    const play = new Play(sendWith({ railKey }), sendWith({ as: login }), OVER_CAPTURE_PERCENT)
    const retriedBefore = attempts.retried
    const begunMs = performance.now()
    const killing = kill(bed, plan, () => responses, say)
    await play.play(cards, plan.callers).finally(killing.stop)
    const killed = await killing.done
    const seconds = Math.round((performance.now() - begunMs) / 1_000)
    say(`${play.sent} messages sent in ${seconds} s; repeating ${play.acknowledged.size}`)
    await play.repeatAll(plan.callers)
    const books = await compareBooks((text, values) => bed.server.query(text, values), play, cards)
    const wrong = await wrongStatements({ caller, login, firstDay, callers: plan.callers }, cards)
    const { repeats, atOnce, odd, sent, byStatus, moves, refusedMoves } = play
    return {
      seed: plan.seed,
      messages: books.acknowledged,
      cards: cards.length,
      sent,
      atOnce,
      repeats,
      odd,
      byStatus: Object.fromEntries(byStatus),
      moves: moves.size,
      refusedMoves,
      statements: cards.length - wrong.length,
      ...killed,
      retried: attempts.retried - retriedBefore,
      lost: books.lost,
      doubled: books.doubled,
      seconds,
      broken: [...play.broken, ...books.broken, ...wrong, ...(await brokenInvariants(bed)), ...crashes(bed)],
    }
  } finally {
    await balancer.close()
    await bed.close()
  }
}

const FUNDS_RUPEES = 5_000_000
const PAID = ['--reference', 'TERMINAL0001', '--reason', 'float of the run']
/** The days of statements are those of India. */
const ZONE_AHEAD_MS = 5.5 * 3_600_000

/** A funded account whose cards are loaded again and unloaded, and the spend rules of its partner. */
async function openAccount(bed: Bed, caller: Caller, login: Login): Promise<string> {
  const post = async (path: string, body: object) => {
    const { status, text } = await caller.send({
      method: 'POST',
      path,
      as: login,
      body: JSON.stringify(body),
    })
    if (status !== 200) throw new Error(`${path} got ${status} ${text}`)
    return JSON.parse(text).payload as { cardAccountId: string }
  }
  const { cardAccountId } = await post('/api/v0/partner/card-accounts', {
    companyId: bed.partner.companyId,
    product: 'incentive',
    accountType: 'MEAL',
    binType: 'MEAL',
    cardProgramme: 'Meal cards',
    denomination: 500,
    unallocateFundAllowed: true,
  })
  await bed.operate('card-account', 'fund', cardAccountId, '--amount', String(FUNDS_RUPEES), ...PAID)
  for (const rule of RULES) await post('/api/v0/partner/spend-rules', rule)
  return cardAccountId
}

/** What of the statements is not as the messages say, in words. */
async function wrongStatements(
  { caller, login, firstDay, callers }: { caller: Caller; login: Login; firstDay: string; callers: number },
  cards: readonly PlayedCard[],
): Promise<string[]> {
  const wrong: string[] = []
  await each(cards, callers, async (played) => {
    const path = `${CARDS_PATH}/${played.svcCardId}/statement?from=${firstDay}`
    const { status, text } = await caller.send({ method: 'GET', path, as: login })
    const problem =
      status === 200
        ? compareStatement(played, (JSON.parse(text) as { payload: Statement }).payload)
        : `${path} got ${status} ${text}`
    if (problem) wrong.push(problem)
  })
  return wrong
}

/** Orders cards as the partner does, and draws the script of each. */
async function issue(
  { companyId, cardAccountId, sharedKey }: Bed['partner'],
  caller: Caller,
  login: Login,
  { seed, cards, messages, callers }: Plan,
): Promise<PlayedCard[]> {
  const chance = new Chance(seed, 'terminal')
  const references = new References(Date.now())
  const drawn = Array.from({ length: cards }, (_, n) => {
    const load = chance.whole(LOAD_MIN_RUPEES, LOAD_MAX_RUPEES)
    const count = Math.floor((messages * (n + 1)) / cards) - Math.floor((messages * n) / cards)
    return { n, load, script: scriptOf(chance, references, count, load * 100) }
  })
  const issued: PlayedCard[] = []
  await each(drawn, callers, async ({ n, load, script }) => {
    const order = {
      companyId,
      cardAccountId,
      mobile: `9${String(n).padStart(9, '0')}`,
      loadAmount: String(load),
    }
    const body = JSON.stringify(await encrypt(Buffer.from(JSON.stringify(order)), sharedKey))
    const { status, text } = await caller.send({ method: 'POST', path: CARDS_PATH, as: login, body })
    if (status !== 200) throw new Error(`an order of a card got ${status} ${text}`)
    const { svcCardId, token } = JSON.parse(text).payload as { svcCardId: string; token: string }
    issued.push({ svcCardId, token, script, card: newCard(load * 100) })
  })
  return issued
}

/** Kills at even distances of responses, in an order that the seed draws. */
function kill(bed: Bed, plan: Plan, responses: () => number, say: (line: string) => void) {
  const chance = new Chance(plan.seed, 'kills')
  const all = plan.kills + plan.databaseKills
  let databaseKills = 0
  let kills = 0
  let isOver = false
  const loop = async () => {
    while (kills + databaseKills < all) {
      const next = ((kills + databaseKills + 1) * plan.messages) / (all + 1)
      while (responses() < next && !isOver) await sleep(5)
      if (isOver) break
      if (chance.happens((plan.databaseKills - databaseKills) / (all - kills - databaseKills))) {
        databaseKills++
        await bed.server.kill()
      } else {
        kills++
        const member = chance.pick(bed.members)
        await member.end('SIGKILL')
        await member.ready()
      }
      say(`${responses()} responses, ${kills} kills of the service, ${databaseKills} of PostgreSQL`)
    }
    return { kills, databaseKills }
  }
  return { done: loop(), stop: () => void (isOver = true) }
}

async function brokenInvariants({ operate }: Bed): Promise<string[]> {
  try {
    await operate('invariants')
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

const crashes = ({ members }: Bed): string[] =>
  members.flatMap((member) => member.crashes.map((crash) => `a process ${crash}`))
