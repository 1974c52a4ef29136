import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let admin: Browser
beforeAll(async () => {
  // The clock leaps.
  service = await openService({ env: { CONSOLE_STEP_UP_MINUTES: '0' } })
  admin = await signedIn(service, 'admin')
})
afterAll(() => service.close())

let names = 0
const newName = () => `invited.${names++}`
const LINK = /^(http:\/\/[^/]+)\/console\/invitation#([\w-]{43})$/

interface Invited {
  readonly name: string
  readonly invitationId: string
  readonly token: string
}

async function invite(body: { role?: string; hours?: number } = {}, by = admin): Promise<Invited> {
  const name = newName()
  const { json, status } = await by.post('/operators/invitations', { name, role: 'operator', ...body })
  expect([status, json.status]).toEqual([200, 'open'])
  return { name, invitationId: json.invitationId, token: LINK.exec(json.link)?.[2] ?? json.link }
}

const accept = (token: string, browser = new Browser(service)) =>
  browser.post('/invitation/accept', { token, password: PASSWORD })
const errorsOf = async (token: string) => [
  (await new Browser(service).post('/invitation', { token })).error,
  (await accept(token)).error,
]
const openOnes = async (): Promise<Json[]> => (await admin.get('/operators/invitations')).json.data

test('an invited person chooses a password, is signed in with the offered role, and the link is used up', async () => {
  const { name, invitationId, token } = await invite()
  expect(await openOnes()).toContainEqual(expect.objectContaining({ invitationId, name, status: 'open' }))
  const browser = new Browser(service)
  const offer = await browser.post('/invitation', { token })
  expect(offer.json).toMatchObject({
    name,
    role: 'operator',
    invitedBy: expect.stringMatching(/^operator admin/),
  })
  const { json, status } = await accept(token, browser)
  expect([status, json.operator]).toMatchObject([200, { name, role: 'operator' }])
  expect((await browser.get('/session')).json.operator.name).toBe(name)
  expect((await new Browser(service).signIn(name)).status).toBe(200)
  expect(await errorsOf(token)).toEqual(['invitation_used', 'invitation_used'])
  expect((await openOnes()).filter((each) => each.name === name)).toEqual([])
})

test('a link is valid for 72 hours, or as long as requested, and an expired one is replaced by a new one', async () => {
  const [usual, short] = [await invite(), await invite({ hours: 1 })]
  service.clock.advance(3_600_000)
  expect(await errorsOf(short.token)).toEqual(['invitation_expired', 'invitation_expired'])
  service.clock.advance(70 * 3_600_000)
  const otherAdmin = await signedIn(service, 'admin')
  expect((await otherAdmin.post('/invitation', { token: usual.token })).status).toBe(200)
  service.clock.advance(3_600_000)
  expect(await errorsOf(usual.token)).toEqual(['invitation_expired', 'invitation_expired'])
  admin = await signedIn(service, 'admin')
  const again = await admin.post('/operators/invitations', { name: usual.name, role: 'viewer' })
  expect([again.status, again.json.role]).toEqual([200, 'viewer'])
  expect((await errorsOf(usual.token))[0]).toBe('invitation_revoked')
})

test('a revoked link is rejected, and so are a mangled and an invented one', async () => {
  const { invitationId, token } = await invite()
  const revoked = await admin.send('DELETE', `/operators/invitations/${invitationId}`)
  expect([revoked.status, revoked.json.status]).toEqual([200, 'revoked'])
  expect(await errorsOf(token)).toEqual(['invitation_revoked', 'invitation_revoked'])
  expect((await admin.send('DELETE', `/operators/invitations/${invitationId}`)).error).toBe(
    'invitation_not_found',
  )
  for (const wrong of [token.slice(1), 'A'.repeat(43), `${token}'--`])
    expect(await errorsOf(wrong)).toEqual(['invitation_not_found', 'invitation_not_found'])
})

test('an invitation ends with the rights of the administrator who created it', async () => {
  for (const change of [{ disabled: true }, { role: 'operator' }]) {
    const maker = await newOperator(service, 'admin')
    const browser = new Browser(service)
    await browser.signIn(maker.name)
    const [same, lower] = [
      await invite({ role: 'admin' }, browser),
      await invite({ role: 'viewer' }, browser),
    ]
    expect((await admin.send('PATCH', `/operators/${maker.operatorId}`, change)).status).toBe(200)
    expect(await errorsOf(same.token)).toEqual(['invitation_revoked', 'invitation_revoked'])
    // What the demoted one could still offer stays; the disabled one can offer nothing.
    expect((await accept(lower.token)).error).toBe('disabled' in change ? 'invitation_revoked' : undefined)
  }
})

test('of ten people who open a link at once one becomes the operator', async () => {
  const { name, token } = await invite()
  const all = await Promise.all(Array.from({ length: 10 }, () => accept(token)))
  expect(all.map(({ error }) => error ?? 'accepted').sort()).toEqual([
    'accepted',
    ...Array.from({ length: 9 }, () => 'invitation_used'),
  ])
  expect((await admin.get('/operators')).json.data.filter((each: Json) => each.name === name)).toHaveLength(1)
})

test('a name is invited once, and the name of an existing operator not at all', async () => {
  const { name } = await invite()
  const operator = await newOperator(service, 'viewer')
  for (const taken of [name, operator.name]) {
    const body = { name: taken, role: 'viewer' }
    expect((await admin.post('/operators/invitations', body)).error).toBe('already_exists')
  }
  const raced = newName()
  const both = [0, 1].map(() => admin.post('/operators/invitations', { name: raced, role: 'viewer' }))
  expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409])
})

test('a password that breaks the rule leaves the invitation open', async () => {
  const { token } = await invite()
  const browser = new Browser(service)
  expect((await browser.post('/invitation/accept', { token, password: 'short' })).error).toBe(
    'validation_failed',
  )
  expect((await accept(token, browser)).status).toBe(200)
})

test('inviting, accepting and revoking are audited with the operator, and the link is stored nowhere', async () => {
  const [used, unused] = [await invite(), await invite()]
  await accept(used.token)
  await admin.send('DELETE', `/operators/invitations/${unused.invitationId}`)
  const entries = async (target: string): Promise<Json[]> =>
    (await admin.get(`/audit?target=${target}`)).json.data
  const acts = async (target: string) => (await entries(target)).map(({ action, actor }) => [action, actor])
  const by = (await admin.get('/session')).json.operator.name
  expect((await acts(used.invitationId)).toReversed()).toEqual([
    ['invitation.created', `operator ${by}`],
    ['invitation.accepted', `operator ${used.name}`],
  ])
  expect((await acts(unused.invitationId))[0]).toEqual(['invitation.revoked', `operator ${by}`])
  const stored = await asSuperuser(service.db.database, async (db) => {
    const rows = []
    for (const table of ['operator_invitations', 'audit_log', 'request_log'])
      rows.push(...(await db.query<{ text: string }>(`select t::text as text from ${table} t`)).rows)
    return rows.map(({ text }) => text).join('\n')
  })
  const bytes = Buffer.from(used.token, 'base64url').toString('hex')
  for (const secret of [used.token, bytes]) expect(`${stored}${service.logged()}`).not.toContain(secret)
})

test('the database itself accepts an invitation once, before it expires', async () => {
  const { invitationId } = await invite()
  const { operatorId } = await newOperator(service, 'viewer')
  const set = (values: string) =>
    asSuperuser(service.db.database, (db) =>
      db.query(`update operator_invitations set ${values} where invitation_id = $1`, [invitationId]),
    )
  for (const wrong of [
    'accepted_at = created_at',
    `accepted_at = expires_at, operator_id = '${operatorId}'`,
    `accepted_at = created_at, operator_id = '${operatorId}', revoked_at = created_at`,
    'expires_at = created_at',
  ])
    await expect(set(wrong), wrong).rejects.toThrow(/check constraint/)
})
