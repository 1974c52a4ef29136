import { inBrowser } from './bed.ts'
import { leaving } from './leaving.ts'
import { newcomers } from './newcomers.ts'
import { ownSessions } from './own-sessions.ts'
import { people } from './people.ts'
import { secondFactors } from './second-factor.ts'
import { signInWays } from './sign-in-ways.ts'
import { tenants } from './tenants.ts'

inBrowser('operators and tenants in the console', {
  filled: [people, newcomers, signInWays, secondFactors, ownSessions, tenants, leaving],
})
