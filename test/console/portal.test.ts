import { inBrowser } from './bed.ts'
import { portalLeftAlone } from './left-alone.ts'
import { portalOfMerchants, portalOfPartners, portalOfViewers, usersInPortal } from './portal.ts'
import { secondFactorsOfMembers } from './portal-second-factor.ts'
import { memberOfManyMerchants } from './portal-sign-in.ts'

inBrowser('the portal', {
  filled: [
    portalOfMerchants,
    portalOfPartners,
    portalOfViewers,
    usersInPortal,
    secondFactorsOfMembers,
    portalLeftAlone,
    memberOfManyMerchants,
  ],
})
