import { inBrowser } from './bed.ts'
import { portalLeftAlone } from './left-alone.ts'
import { portalOfMerchants, portalOfPartners, portalOfViewers, usersInPortal } from './portal.ts'
import { requestsOfMembers } from './portal-requests.ts'
import { secondFactorsOfMembers } from './portal-second-factor.ts'
import { memberOfManyMerchants } from './portal-sign-in.ts'
import { passkeysOfMembers } from './sign-in-ways.ts'

inBrowser('the portal', {
  filled: [
    portalOfMerchants,
    portalOfPartners,
    portalOfViewers,
    usersInPortal,
    requestsOfMembers,
    secondFactorsOfMembers,
    passkeysOfMembers,
    portalLeftAlone,
    memberOfManyMerchants,
  ],
})
