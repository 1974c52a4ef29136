import { describe } from 'vitest'
import { BROWSER } from '../harness/browser.ts'
import { Bed } from './bed.ts'
import { exceptions } from './exceptions.ts'
import { exports, finance } from './finance.ts'
import { journals } from './journals.ts'
import { keyboard } from './keyboard.ts'
import { leaving } from './leaving.ts'
import { lists, rowActions } from './lists.ts'
import { cardAccountMoney, cards, coinVoids, payments } from './money.ts'
import { newcomers } from './newcomers.ts'
import { leftSetUp, tasksOfAdmins } from './onboarding.ts'
import { ownSessions } from './own-sessions.ts'
import { emptyPages, everyPage } from './pages.ts'
import { payoutApproval, payoutOutcomes, payouts } from './payouts.ts'
import { people } from './people.ts'
import { portalOfMerchants, portalOfPartners, portalOfViewers } from './portal.ts'
import { secondFactorsOfMembers } from './portal-second-factor.ts'
import { resilience } from './resilience.ts'
import { secondFactors } from './second-factor.ts'
import { signInWays } from './sign-in-ways.ts'
import { status } from './status.ts'
import { support } from './support.ts'
import { suspense } from './suspense.ts'
import { tasksOfFinance, tasksOfOperations, tasksOfOthers, tasksOfSupport } from './tasks.ts'
import { savedFilters, tenants } from './tenants.ts'
import { testClocks } from './test-clocks.ts'
import { webhooks } from './webhooks.ts'

const without = BROWSER ? '' : ' (skipped: no Chromium is installed, CHROMIUM_PATH names another)'

describe.skipIf(!BROWSER)(`the console in a real browser${without}`, () => {
  const bed = new Bed().use()
  emptyPages(bed)
  describe('with something of everything in it', () => {
    bed.useWorld()
    everyPage(bed)
    finance(bed)
    exports(bed)
    keyboard(bed)
    rowActions(bed)
    lists(bed)
    support(bed)
    payouts(bed)
    payoutApproval(bed)
    payoutOutcomes(bed)
    suspense(bed)
    exceptions(bed)
    journals(bed)
    status(bed)
    people(bed)
    newcomers(bed)
    portalOfMerchants(bed)
    portalOfPartners(bed)
    portalOfViewers(bed)
    secondFactorsOfMembers(bed)
    signInWays(bed)
    secondFactors(bed)
    ownSessions(bed)
    tenants(bed)
    leaving(bed)
    savedFilters(bed)
    testClocks(bed)
    webhooks(bed)
    resilience(bed)
    payments(bed)
    cardAccountMoney(bed)
    cards(bed)
    coinVoids(bed)
    tasksOfSupport(bed)
    tasksOfFinance(bed)
    tasksOfOperations(bed)
    tasksOfAdmins(bed)
    leftSetUp(bed)
    tasksOfOthers(bed)
  })
})
