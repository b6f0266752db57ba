// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One change to a program at one of its values: a near miss. What it does shows only on a rare
// side: beyond a number, where an axis is long, at some places; or never.
#ifndef FOVEA_TEST_SMITH_EDIT_H
#define FOVEA_TEST_SMITH_EDIT_H

#include "test/smith/Writer.h"

namespace fovea::smith {

enum class Site {
  Score,
  Exponential,
  Sum,
  Probability,
  Output,
  NormInput,
  NormDivisor,
  NormOutput,
  ActivationInput,
  ActivationOutput,
  Angle,
  Mask,
  Bias,
  Count
};

/// What the values on the rare side become.
enum class EditKind {
  None, ///< the program as it was
  Select,
  Minimum,
  Maximum,
  Clamp,
  Floor, ///< ceil and trunc too
  Round,
  Absolute,
  Power,
  Place, ///< another formula at each place
  Convert,
  Remainder,
  Count
};

enum class Rarity { Value, Size, Place, Never, Count };

/// Which of a site's values.
enum class Part {
  Value,      ///< the only one, or the score before masks
  Masked,     ///< the score behind masks
  QueryPlace, ///< integers that a mask compares
  KeyPlace,
  Length,
  Condition, ///< where a mask allows keys
  Number,    ///< that a mask adds
  Distance,  ///< the integer that a bias depends on
  Squares    ///< a norm's input where squares are summed, and only there
};

/// Where numbers are rare.
enum class Side { Above, Below, Outside, Near, Under };

struct Edit {
  Site site = Site::Score;
  EditKind kind = EditKind::None;
  Rarity rarity = Rarity::Never;
  Part part = Part::Value;
  Side side = Side::Above;
  double limit = 1;
  double unit = 1;         ///< the size of usual values
  bool isPositive = false; ///< values are never negative
  bool isBounded = false;  ///< by one
  char along = 'i';        ///< whose place counts
  char axis = 'i';         ///< whose place or size is rare
  char other = 0;          ///< beside it: a sum of both sizes, a distance of places
  bool isNatural = false;  ///< the op itself does nothing on the usual side: min(x, 30)
  uint64_t spelling = 0;
  /// Moves what is compared and rounded by this part of itself: what then changes lies on a border.
  double nudge = 0;
};

const char *nameOf(Site site);
const char *nameOf(EditKind kind);
const char *nameOf(Rarity rarity);

/// Whether the op does nothing on the usual side.
bool hasNaturalForm(EditKind kind, Side side, bool isPositive);

class Editor {
public:
  explicit Editor(const Edit &edit) : edit(edit), random(edit.spelling, "edit") {}
  /// What the edit makes of `x`, if this is its site; `x` if not, or behind the first time.
  Ex at(Writer &w, Site site, Part part, Ex x);
  bool isDone() const { return done; }

private:
  Ex onReal(Writer &w, const Ex &x);
  Ex onInteger(Writer &w, const Ex &x);
  Ex onCondition(Writer &w, const Ex &x);
  Ex harmless(Writer &w, const Ex &x);
  Ex harmlessInteger(const Ex &x);
  Ex natural(const Ex &x);
  Ex naturalInteger(const Ex &x);
  /// The other formula: of values of size `edit.unit`.
  Ex change(Writer &w, Ex x);
  Ex another(const Ex &x);
  /// `x`, by more than one where an axis is long or at far places, without any condition.
  Ex bent(Writer &w, const Ex &x);
  /// One up to the limit.
  Ex factor(const Ex &count);
  /// Whether a factor of what is edited changes nothing: of all exponentials of a row, or of a row
  /// that is normalised.
  bool ignoresFactors() const;
  bool isDivisor() const { return edit.site == Site::Sum || edit.site == Site::NormDivisor; }
  Ex changeInteger(Writer &w, const Ex &x);
  /// Whether an element is on the rare side.
  Ex rare(Writer &w, const Ex &x);
  Ex rareBySize(Writer &w);
  Ex rareByPlace();
  Ex choose(const Ex &condition, const Ex &yes, const Ex &no);
  Ex more(const Ex &a, double limit);
  /// `x`, moved by the nudge times `by`.
  Ex moved(const Ex &x, double by = 1);
  Ex placeAsReal(Elem elem);

  Edit edit;
  Random random;
  bool done = false;
};

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_EDIT_H
