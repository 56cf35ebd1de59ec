"""The forms of a page: which of them search, and which query a database without links into it.

Bytes become forms (:mod:`reader` over :mod:`flow` and :mod:`labels`, in the words of :mod:`form`); a form
becomes events (:mod:`features`, by the meanings of :mod:`lexicon`); the :mod:`classifier` weighs them, with
the three :mod:`rules`, by weights that :mod:`training` learnt; :mod:`domains` finds its subject.
"""
