import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser, newOperator, PASSWORD, PORTAL_API, signedIn } from '../harness/console.ts'
import { invite } from '../harness/portal.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let admin: Browser
beforeAll(async () => {
  service = await openService({ background: false })
  merchant = await service.newMerchant()
  admin = await signedIn(service, 'admin')
})
afterAll(() => service?.close())

type Choose = (
  password: string,
) => Promise<{ readonly error?: string | undefined; readonly status: number; readonly text: string }>
interface Chooser {
  readonly name: string
  readonly choose: Choose
}

/** Everywhere that a person chooses a password; each name is as people have it. */
const WHERE: Readonly<Record<string, (name: string) => Promise<Chooser>>> = {
  'an operator by an invitation': async (name) => {
    const { json } = await admin.post('/operators/invitations', { name, role: 'viewer' })
    const token = json.link.split('#')[1]
    return {
      name,
      choose: (password) => new Browser(service).post('/invitation/accept', { token, password }),
    }
  },
  'an operator who is signed in': async () => {
    const { name } = await newOperator(service, 'viewer')
    const browser = new Browser(service)
    await browser.signIn(name)
    return {
      name,
      choose: (newPassword) => browser.post('/session/password', { password: PASSWORD, newPassword }),
    }
  },
  'a member by a link': async () => {
    const { name, token } = await invite(service, merchant.merchantId, 'viewer')
    return {
      name,
      choose: (password) => new Browser(service, PORTAL_API).post('/link/password', { token, password }),
    }
  },
  'a member who is signed in': async () => {
    const { name, token } = await invite(service, merchant.merchantId, 'viewer')
    const browser = new Browser(service, PORTAL_API)
    await browser.post('/link/password', { token, password: PASSWORD })
    return {
      name,
      choose: (newPassword) => browser.post('/session/password', { password: PASSWORD, newPassword }),
    }
  },
}

const WEAK: readonly (readonly [why: string, of: (name: string) => string, reason: string])[] = [
  ['common', () => 'password1234', 'common'],
  ['a row of keys', () => 'qwertyuiop12', ''],
  ['one character', () => 'aaaaaaaaaaaa', 'repeats'],
  ['a common one with a year', () => 'Password2026!', 'common'],
  ['repeated', () => 'abcabcabcabc', 'repeats'],
  ['long and common', () => 'x'.repeat(256), 'repeats'],
  ['the name', (name) => `${name}12`.padEnd(12, '3'), 'your name'],
]

test.each(Object.entries(WHERE))(
  '%s chooses no password that is guessed easily; a good one is accepted',
  async (_, make) => {
    const { name, choose } = await make('priya.raman@example.com')
    for (const [why, of, reason] of WEAK) {
      const refused = await choose(of(name))
      expect([why, refused.status, refused.error]).toEqual([why, 422, 'password_too_weak'])
      expect(refused.text).toContain(reason)
    }
    expect((await choose('nine purple kettles over Pune')).status).toBe(200)
  },
)
