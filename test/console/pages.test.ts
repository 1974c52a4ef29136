import { inBrowser } from './bed.ts'
import { changingFilters } from './dialogs.ts'
import { fullCode } from './full-code.ts'
import { leftAlone, overForms, twoWindows } from './left-alone.ts'
import { formsAfterLostResponses, lostResponses, lostResponsesInPortal } from './lost-responses.ts'
import { beginnings, emptyPages, everyPage, menu } from './pages.ts'
import { reloadedForms, reopenedForms, reopenedRefunds, statesThatAreSetAgain } from './reopened-forms.ts'

inBrowser('the pages of the console', {
  empty: [emptyPages],
  filled: [
    everyPage,
    beginnings,
    menu,
    fullCode,
    leftAlone,
    overForms,
    twoWindows,
    changingFilters,
    lostResponses,
    formsAfterLostResponses,
    lostResponsesInPortal,
    reopenedForms,
    reopenedRefunds,
    reloadedForms,
    statesThatAreSetAgain,
  ],
})
